"""From a subgraph and observations to what is believed."""

from functools import partial

import networkx as nx
import pytest

from graphbo.errors import ModelError
from graphbo.search.acquisition import DEFAULT_ACQUISITION
from graphbo.search.graph import Graph
from graphbo.search.kernels import Diffusion
from graphbo.search.spectrum import LARGEST_ORDER
from graphbo.search.strategies.base import kernel_name
from graphbo.search.strategies.bayes import BayesConfig
from graphbo.search.strategies.model import Model
from graphbo.search.strategies.paper import PaperConfig
from graphbo.types import Ego, Observation
from tests.search.strategies.support import VIEW, situation, stored

HISTORY = [Observation(step=n, seq=n, key=n, value=float(n % 3)) for n in range(1, 7)]


def model() -> Model:
    return Model("auto", "ei", None)


def test_what_was_asked_before_is_answered_from_memory() -> None:
    ours, now = model(), situation(HISTORY)
    with stored(nx.cycle_graph(40)) as store:
        graph = Graph(store, VIEW, seed=0)
        here = graph.ego_networks([Ego(3, 12)], (0,), (), now.evaluated)
        first = ours.believe(here, now.told.valued, now, restart=0)
        elsewhere = ours.believe_around(6, 12, now, graph)
        # A look elsewhere leaves what is known of the region as it is, and the other way round.
        assert ours.believe(here, now.told.valued, now, restart=0) is first
        assert ours.believe_around(6, 12, now, graph) is elsewhere
        assert ours.believe(here, now.told.valued, now, restart=1) is not first


def test_nothing_is_believed_where_nothing_may_be_proposed() -> None:
    with stored(nx.cycle_graph(7)) as store:
        graph = Graph(store, VIEW, seed=0)
        here = graph.ego_networks([Ego(3, 3)], (0,), (), ())
        now = situation(HISTORY)
        assert model().believe(here, now.told.valued, now, restart=0) is None
        now = situation([one for one in HISTORY if one.key != 4])
        belief = model().believe(here, now.told.valued, now, restart=0)
    assert belief is not None
    assert [one.key for one in belief.proposal().candidates] == [4]


def test_the_defaults_of_the_strategies_are_those_of_the_model() -> None:
    """They are written out there, so that nobody waits for an import who needs no model."""
    for config in (BayesConfig(), PaperConfig()):
        assert config.acquisition == DEFAULT_ACQUISITION
        assert isinstance(config.model(), Model)
    assert PaperConfig().order == LARGEST_ORDER


def test_kernels_are_recorded_by_where_they_are() -> None:
    assert kernel_name("diffusion") == "diffusion"
    assert kernel_name(Diffusion.scaled) == "graphbo.search.kernels.diffusion:Diffusion.scaled"
    assert kernel_name(partial(Diffusion.scaled)) == "functools:partial"


def test_a_function_cannot_be_had_by_its_name() -> None:
    with pytest.raises(ModelError, match="the kernel 'here:mine' is a function that only"):
        Model("here:mine", "ei", None)

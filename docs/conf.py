"""The documentation site: ``make docs`` builds it from the Markdown files of the repository.

Its pages lie where the files do, so that a link between two of them leads to the same place on the site and wherever
else the files are read.
"""

import builtins
import pkgutil
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import graphbo  # noqa: E402 - it is found there

project = "graphbo"
author = "The graphbo developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = graphbo.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]

# What is a page. The source directory is the repository.
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "cypher/README.md",
    "docker/README.md",
]
exclude_patterns = [
    ".*",
    "build",
    "dist",
    "demo",
    "benchmarks",
    "examples",
    "graphbo",
    "requirements",
    "tests",
    "docs/experiments/**/tables",  # of results: pages show them
    "docs/_templates",
]

# Markdown as it is read on a code forge.
myst_heading_anchors = 4
# A block without a language is what a command printed.
highlight_language = "text"
myst_enable_extensions = ["html_image"]
suppress_warnings = [
    "misc.highlighting_failure",  # Pygments does not know Cypher's parameters
]

# Docstrings.
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
add_module_names = False

# Every name that a page or a docstring refers to is there.
nitpicky = True

html_theme = "furo"
html_title = "graphbo"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# A summary is fetched from the page that was found, which browsers refuse in a directory without a server.
html_show_search_summary = False
html_additional_pages = {"index": "to_first_page.html"}
templates_path = ["_templates"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#bb3f0a", "color-brand-content": "#9a3408"},
    "dark_css_variables": {"color-brand-primary": "#f2893e", "color-brand-content": "#f2a468"},
}
pygments_style = "friendly"
pygments_dark_style = "native"


def without_type(
    _app: Sphinx, what: str, _name: str, _found: object, _options: object, lines: list[str]
) -> None:
    """Keep the first line of a property's docstring whole: what stands before a colon is taken for a type."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]  # an empty comment


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.Node | None:
    """Lead a name to where it is described, by whatever name; let others be text, but only if there are such."""
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"])
    module, _, last = target.rpartition(".")
    described = env.domains.python_domain.objects
    if not module or module.startswith("graphbo"):
        # The public name, which is the shortest, and not where it happens to be defined.
        for home in sorted((one for one in described if one.endswith(f".{last}")), key=len):
            found = described[home]
            page = str(node["refdoc"])
            return make_refnode(app.builder, page, found.docname, found.node_id, [shown], home)
    return shown if exists(target) else None


#: Short names of modules in annotations.
SHORT = {"nx": "networkx", "np": "numpy", "pd": "pandas"}


def exists(target: str) -> bool:
    """Whether there is something of this name: in Python, in a library, or in graphbo."""
    first, _, rest = target.partition(".")
    name = f"{SHORT.get(first, first)}.{rest}" if rest else first
    if not rest:
        return hasattr(builtins, name) or name in defined_in_graphbo()
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return rest.rpartition(".")[2] in defined_in_graphbo()
    return True


def defined_in_graphbo() -> set[str]:
    """The names that graphbo's modules have."""
    if not _DEFINED:
        for module in pkgutil.walk_packages(graphbo.__path__, "graphbo."):
            if not module.name.endswith("__main__"):
                _DEFINED.update(vars(__import__(module.name, fromlist=["_"])))
    return _DEFINED


_DEFINED: set[str] = set()


def setup(app: Sphinx) -> dict[str, Any]:
    """What the site does of its own."""
    app.connect("autodoc-process-docstring", without_type, priority=400)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

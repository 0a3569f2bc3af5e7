"""How Sphinx builds the manual; ``make docs`` runs it with warnings as errors."""

import os
import re

# The figures of the gallery are drawn without a display.
os.environ.setdefault("MPLBACKEND", "agg")

from sparseksc import __version__

project = "sparseksc"
author = "The sparseksc developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["sg_execution_times.rst", "gallery/sg_execution_times.rst"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "sparseksc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
#: Pages without others beside them.
html_sidebars = {name: [] for name in ("index", "tutorial", "howto", "comparison", "cheat-sheet")}

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": (),  # what an example prints, not what its last line returns
    "parallel": min(4, os.cpu_count() or 1),
    "min_reported_time": 20,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib",),
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("sparseksc",),
    "exclude_implicit_doc": {r".*"},
    "image_srcset": [],
}


def keep_trailing_underscores(app, what, name, obj, options, lines):
    """Names such as ``n_clusters_`` in a type are not references of reStructuredText."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            head, colon, tail = line.rpartition(" : ")
            lines[number] = head + colon + re.sub(r"(?<![`\w])(\w+)_(?![`\w])", r"\1\\_", tail)


def cite_in_lists(app, pagename, templatename, context, doctree):
    """Give citations the role that docutils' lists of them ask for."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    app.connect("autodoc-process-docstring", keep_trailing_underscores, priority=100)
    app.connect("html-page-context", cite_in_lists)

"""The documentation site: ``sphinx-build -W --keep-going docs build/site``.

The guides are Markdown and stay readable where they are, without a site. What this file adds on the
way: the tables of `benchmarks/results` as pages, the reports as pages of their own, and a page of
reference for each public name.
"""

import importlib
import re
import shutil
import sys
from pathlib import Path

import sphinx_gallery.sorting

import hedgerow

sys.path.insert(0, str(Path(__file__).parent))
import front
import ideas

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "hedgerow"
author = "hedgerow developers"
copyright = "hedgerow developers, BSD 3-Clause licence"
version = release = hedgerow.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["architecture.md", "gallery/*/*.md", "README.md"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["attrs_block", "colon_fence", "html_image"]
myst_heading_anchors = 4

numpydoc_show_class_members = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_imported_members = True
html_copy_source = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": sphinx_gallery.sorting.ExampleTitleSortKey,
    "backreferences_dir": "reference/used_in",
    "doc_module": ("hedgerow",),
    "abort_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(HERE / "_static" / "hedgerow.svg"),
    "write_computation_times": False,
}

html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "hedgerow"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/hedgerow.svg"
html_show_sourcelink = False
html_sidebars = {"index": [], "get_started": [], "changelog": []}
html_theme_options = {
    "logo": {
        "text": "hedgerow",
        "image_light": "_static/hedgerow.svg",
        "image_dark": "_static/hedgerow.svg",
    },
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["version-switcher", "theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}


# -- Pages that are made ---------------------------------------------------------------------------

# What of a class comes from scikit-learn's own base and says nothing about the model.
INHERITED = {"get_metadata_routing", "get_params", "set_params", "set_output"}
# What models, learners and records say to each other, and is no promise to users.
WITHIN = {
    "adopt",
    "become",
    "check_classes",
    "check_fitted",
    "check_parameters",
    "facts",
    "init_learner",
    "learner",
    "read_table",
    "rebuild",
    "settings",
    "summands",
    "values_of_encoded",
    "watched_fit",
    "with_graph",
}

REFERENCE = """\
{title}
{line}

.. automodule:: {module}
   :no-members:

.. currentmodule:: hedgerow

.. autosummary::
   :toctree:
   :nosignatures:

   {names}
"""


TOGETHER = re.compile(r"(?<=\d) (?=[±/(×])|(?<=\d [±/×]) (?=\d)")


def write(path: Path, text: str) -> None:
    """Write a made page, but leave an equal one alone: Sphinx then need not read it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def make_reference() -> None:
    """One page for each public module, and from it one for each of its names."""
    shown = set()
    modules = sorted(
        f"hedgerow.{path.stem}"
        for path in (ROOT / "src/hedgerow").iterdir()
        if not path.stem.startswith("_") and (path.suffix == ".py" or path.is_dir())
    )
    pages = []
    for module in modules:
        found = importlib.import_module(module)
        own = [n for n in hedgerow.__all__ if getattr(hedgerow, n).__module__ == module]
        names = getattr(found, "__all__", own)
        # A name is written as it is best imported: from hedgerow itself, where it is there.
        names = [name for name in names if name not in shown]
        shown.update(names)
        if not names:
            continue
        family = module.removeprefix("hedgerow.")
        best = [name if name in hedgerow.__all__ else f"~{family}.{name}" for name in names]
        text = REFERENCE.format(
            title=module, line="=" * len(module), module=module, names="\n   ".join(best)
        )
        write(HERE / "reference" / f"{module}.rst", text)
        pages.append(module)
    missing = set(hedgerow.__all__) - shown
    assert not missing, f"public names without a module that lists them: {missing}"
    write(
        HERE / "reference" / "index.rst",
        "Reference\n=========\n\nEvery public name, with its parameters and an example. "
        "Estimators are imported from ``hedgerow`` itself.\n\n.. toctree::\n   :maxdepth: 2\n\n   "
        + "\n   ".join(pages)
        + "\n",
    )


def make_benchmarks() -> None:
    """The tables of benchmarks/results as pages, with the journals that they lead to."""
    results = sorted((ROOT / "benchmarks/results").glob("*.md"))
    for path in results:
        text = path.read_text(encoding="utf-8")
        write(HERE / "benchmarks" / path.name, text)
        for name in re.findall(r"\]\((\w+\.jsonl)\)", text):
            journal = path.with_name(name).read_text(encoding="utf-8")
            write(HERE / "benchmarks" / name, journal)
    for made in (HERE / "benchmarks").glob("*.md"):
        if not (ROOT / "benchmarks/results" / made.name).exists():
            made.unlink()


def lead_home(docname: str, source: list[str]) -> None:
    """Links that leave docs/ on the forge lead to the pages of the site."""
    up = "../" * docname.count("/")
    text = re.sub(r"\]\((?:\.\./)*benchmarks/results/", f"]({up}benchmarks/", source[0])
    text = re.sub(r"\]\((?:\.\./)*CHANGELOG\.md", f"]({up}changelog.md", text)
    text = text.replace("](docs/", "](")
    # A figure stays on one line with what belongs to it: 27.3 / 26.6 ± 0.1 (2).
    text = re.sub(
        r"^\|.*", lambda row: TOGETHER.sub("\N{NO-BREAK SPACE}", row[0]), text, flags=re.MULTILINE
    )
    # A report is a page of its own, not a download.
    picture = r"!\[[^\]]*\]\([^)]*\)"
    text = re.sub(rf"\[({picture}|[^\]]*)\]\(([\w/]*report\.html)\)", r'<a href="\2">\1</a>', text)
    source[0] = text


def copy_reports(app, exception) -> None:
    """The reports of the gallery, as they are."""
    if exception is None and app.builder.format == "html":
        for report in (HERE / "gallery").glob("*/report.html"):
            target = Path(app.outdir) / "gallery" / report.parent.name
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(report, target)


def skip_machinery(app, what, name, member, skip, options):
    """Leave out scikit-learn's own machinery, and ours."""
    if name in INHERITED | WITHIN or re.fullmatch(r"set_\w+_request", name):
        return True
    return None


def unlink_labels(app, what, name, thing, options, lines) -> None:
    """Labels of scikit-learn's manual, in docstrings of its base classes, become plain words."""
    lines[:] = [re.sub(r":ref:`([^`<]+?)\s*(<[^`]*>)?`", r"\1", line) for line in lines]


def setup(app):
    """Connect the above."""
    make_reference()
    make_benchmarks()
    write(HERE / "_made" / "front.svg", front.draw("california_housing"))
    for idea in ideas.IDEAS:
        pictures = idea()
        write(HERE / "_made" / f"{idea.__name__}.html", pictures)
        write(HERE / "_made" / f"{idea.__name__}_card.html", ideas.card(pictures))
    app.connect("source-read", lambda app, docname, source: lead_home(docname, source))
    app.connect("include-read", lambda app, path, docname, text: lead_home(docname, text))
    app.connect("autodoc-skip-member", skip_machinery)
    app.connect("autodoc-process-docstring", unlink_labels)
    app.connect("build-finished", copy_reports)

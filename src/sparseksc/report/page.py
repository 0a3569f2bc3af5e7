"""The page: facts in words and tables, and the charts between them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from sparseksc._text import escaped
from sparseksc.report.charts.live import bokeh_script, live_charts
from sparseksc.report.charts.palette import (
    CLUSTERS_DARK,
    CLUSTERS_LIGHT,
    DARK,
    LIGHT,
    SHAPES,
    colour_of,
    shape_of,
)
from sparseksc.report.charts.static import static_charts, strength_chart
from sparseksc.report.charts.tree import colours_of, make_tree
from sparseksc.report.facts import Facts
from sparseksc.report.levels import names_of_clusters
from sparseksc.report.numbers import decimals, number, percent
from sparseksc.report.profile import LARGEST_EFFECT, Profile, describe_effect
from sparseksc.report.provenance import (
    code_to_repeat,
    fitted_table,
    parameter_table,
    version_table,
)

#: Features beside the rows between two clusters.
BESIDE_WEAK = 3
#: Features in the profile of a coarser level.
COARSER_FEATURES = 20
#: Strongest tint of a cell, at an effect of 2 or more: text on it stays readable.
STRONGEST_TINT = 0.42


def render(facts: Facts, title: str | None, command: str | None) -> str:
    """Write the page as HTML."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["thousands"] = "{:,}".format
    template = environment.from_string(_text("page.html"))
    levels = [_level(at_level, place) for place, at_level in enumerate(facts.levels)]
    finest = levels[0]
    tree = _tree(facts)
    live_names, live = live_charts(facts)
    charts = static_charts(facts)
    return template.render(
        facts=facts,
        title=title or "Clusters and what they are like",
        version=dict(version_table())["sparseksc"],
        light=LIGHT,
        dark=DARK,
        clusters_light=CLUSTERS_LIGHT,
        clusters_dark=CLUSTERS_DARK,
        shapes=[outline for _, _, outline in SHAPES],
        css=Markup(_text("page.css")),
        js=Markup(_text("page.js")),
        bokeh=Markup(bokeh_script()),
        live_names=live_names,
        live=Markup(_inert(live)),
        charts={name: Markup(svg) for name, svg in charts.items()},
        aspects=_aspects(facts),
        contents=_contents(facts),
        levels=levels,
        by_number=sorted(levels, key=lambda level: int(level["n_clusters"])),
        clusters=finest["clusters"],
        several=facts.n_clusters > 1,
        tree=tree,
        heat_key=(
            "▲ and ▼ mark clusters that differ clearly from the rest, ▲▲ and ▼▼ those that "
            "differ far: by more than two standard deviations."
        ),
        numbered=facts.rows.ids is None,
        numbered_clusters=not hasattr(facts.estimator, "classes_"),
        tuning=_tuning(facts),
        no_tuning=_no_tuning(facts),
        spectrum=[number(float(value)) for value in facts.spectrum],
        spectrum_caption=_spectrum_caption(facts),
        command=command,
        code=code_to_repeat(facts.rows),
        seeded=facts.estimator.random_state is not None,
        fitted=fitted_table(facts.estimator),
        versions=version_table(),
        parameters=parameter_table(facts.estimator),
    )


def _level(facts: Facts, place: int) -> dict[str, Any]:
    """Return what is said about the clusters of a level, which has a place among all."""
    clusters = _clusters(facts)
    tree = getattr(facts.estimator, "tree_", None) if facts.estimator.n_clusters_ > 1 else None
    return {
        "facts": facts,
        "place": place,
        "n_clusters": facts.n_clusters,
        "finest": facts.level.finest,
        "suffix": "" if facts.level.finest else f"-{facts.n_clusters}",
        "colours": colours_of(facts.level, tree),
        "figures": _figures(facts),
        "clusters": clusters,
        "present": [cluster for cluster in clusters if cluster["present"]],
        "undecided": number(1 / facts.n_clusters, 2),
        "profile": _profile(facts, clusters),
        "weakest": _weakest(facts, clusters),
        "weak_features": _weak_features(facts),
        "strength_chart": strength_chart(facts),
    }


def _tree(facts: Facts) -> dict[str, Any] | None:
    """Lines and words of the tree, where there are coarser clusters to choose."""
    if not facts.coarser:
        return None
    names, sizes = facts.level.names, facts.survey.sizes
    tree = make_tree(facts.estimator.tree_, sizes, names)
    cuts = [(place, tree.cut(at.n_clusters)) for place, at in enumerate(facts.levels)]
    leaves = [
        {"number": k, "name": names[k], "shape": shape_of(k), "rows": f"{int(sizes[k]):,}"}
        for k in tree.order
    ]
    return {"leaves": leaves, "cuts": cuts, "drawn": tree}


def _shown(value: Any) -> Any:
    """Escape control characters in what the page quotes; its own parts (Markup) have none."""
    return escaped(value, keep="\n") if type(value) is str else value


def _text(name: str) -> str:
    return files("sparseksc.report").joinpath(name).read_text("utf-8")


def _inert(json: str) -> str:
    """Keep text in JSON from being read as markup."""
    return json.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _aspects(facts: Facts) -> dict[str, str]:
    views = {"data": facts.points.data, "scores": facts.points.scores}
    return {name: f"{view.aspect:.3f}" for name, view in views.items() if view is not None}


def _figures(facts: Facts) -> list[tuple[str, str]]:
    """Return the few numbers at the top."""
    found = [("Rows", f"{facts.survey.n_rows + facts.survey.n_noise:,}")]
    if facts.survey.n_noise > 0:
        found.append(("Noise", f"{facts.survey.n_noise:,}"))
    if facts.profile is not None:
        found.append(
            (
                "Features" if facts.profile.n_features > 1 else "Feature",
                f"{facts.profile.n_features:,}",
            )
        )
    found.append(("Clusters" if facts.n_clusters > 1 else "Cluster", str(facts.n_clusters)))
    if facts.n_clusters > 1:
        found.append(("Mean strength", number(facts.survey.mean_strength, 2)))
    return found


def _contents(facts: Facts) -> list[tuple[str, str]]:
    several = facts.n_clusters > 1
    sections = [
        ("clusters", "The clusters", True),
        ("tree", "Coarser clusters", bool(facts.coarser)),
        ("figure", "Figure", facts.points.data is not None),
        ("profiles", "Profiles", facts.profile is not None),
        ("firmness", "Firmness", several),
        ("why", f"Why {facts.n_clusters}", True),
        ("model", "Inside the model", several),
        ("made", "How this was made", True),
    ]
    return [(anchor, heading) for anchor, heading, there in sections if there]


def _clusters(facts: Facts) -> list[dict[str, Any]]:
    survey, level = facts.survey, facts.level
    names = names_of_clusters(facts.estimator)
    largest = max(int(survey.sizes.max()), 1)
    return [
        {
            "number": cluster,
            "name": level.names[cluster],
            "pick": f"pick-{cluster}" if level.finest else f"pick-{len(level.names)}-{cluster}",
            "classes": " ".join(f"cluster-{member}" for member in level.members(cluster)),
            "members": ", ".join(names[member] for member in level.members(cluster)),
            "colour": colour_of(int(level.leaders[cluster])),
            "shape": shape_of(int(level.leaders[cluster])),
            "present": size > 0,
            "rows": f"{size:,}",
            "share": percent(size / survey.n_rows),
            "bar": f"{size / largest:.4f}",
            "strength": number(float(survey.cluster_strengths[cluster]), 2) if size else "–",
            "words": _words(facts, cluster),
        }
        for cluster, size in enumerate(map(int, survey.sizes))
    ]


def _words(facts: Facts, cluster: int) -> list[tuple[str, str]]:
    """Say what sets a cluster apart."""
    profile, sizes = facts.profile, facts.survey.sizes
    if profile is None:
        return []
    if sizes[cluster] == 0:
        return [("", "No rows of this data.")]
    places = profile.telling(cluster)
    if not places:
        return [("", "No feature by itself: its place or shape.")]
    rest = profile.rest_means(cluster, sizes)
    return [
        (
            profile.names[place],
            f"{describe_effect(float(profile.effects[cluster, place]))} "
            f"({_value(profile, profile.means[cluster, place], place)} against "
            f"{_value(profile, rest[place], place)})",
        )
        for place in places
    ]


def _value(profile: Profile, value: float, place: int) -> str:
    return number(float(value), decimals(float(profile.overall_deviations[place])))


def _profile(facts: Facts, clusters: list[dict[str, Any]]) -> dict[str, Any] | None:
    profile = facts.profile
    if profile is None:
        return None
    present = [cluster for cluster in clusters if cluster["present"]]
    shown = profile.names if facts.level.finest else profile.names[:COARSER_FEATURES]
    features = [
        {
            "name": name,
            "explained": percent(float(profile.explained[place])),
            "mean": _value(profile, profile.overall_means[place], place),
            "cells": [_cell(profile, cluster, place) for cluster in present],
        }
        for place, name in enumerate(shown)
    ]
    left_out = len(features) < profile.n_features
    return {"features": features, "n_features": profile.n_features, "left_out": left_out}


def _cell(profile: Profile, cluster: dict[str, Any], place: int) -> dict[str, Any]:
    k = cluster["number"]
    effect = float(profile.effects[k, place])
    size = abs(effect)
    direction = "" if size < 0.2 else "higher" if effect > 0 else "lower"
    arrow = "▲" if effect > 0 else "▼"
    beyond = "over " if size >= LARGEST_EFFECT else ""
    return {
        "cluster": cluster,
        "mean": _value(profile, profile.means[k, place], place),
        "deviation": _value(profile, profile.deviations[k, place], place),
        "median": _value(profile, profile.medians[k, place], place),
        "quartiles": (
            f"{_value(profile, profile.lower[k, place], place)} to "
            f"{_value(profile, profile.upper[k, place], place)}"
        ),
        "effect": beyond + number(effect, 1),
        "words": describe_effect(effect),
        "direction": direction,
        "tint": f"{STRONGEST_TINT * min(size / 2.0, 1.0):.2f}",
        "arrow": arrow * 2 if size >= 2.0 else arrow if size >= 0.8 else "",
    }


def _weak_features(facts: Facts) -> list[str]:
    return facts.profile.names[:BESIDE_WEAK] if facts.profile else []


def _weakest(facts: Facts, clusters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    between, profile = facts.survey.between, facts.profile
    if between is None:
        return []
    found = []
    for place, row in enumerate(between.rows):
        values = []
        if profile is not None:
            for column, feature in enumerate(profile.features[:BESIDE_WEAK]):
                values.append(_value(profile, float(between.X[place, feature]), column))
        found.append(
            {
                "name": facts.rows.name_of(int(row)),
                "cluster": clusters[between.labels[place]],
                "strength": number(float(between.strengths[place]), 3),
                "second": clusters[between.seconds[place]],
                "second_strength": number(float(between.second_strengths[place]), 3),
                "beside": values,
            }
        )
    return found


def _tuning(facts: Facts) -> dict[str, Any] | None:
    tuning = facts.tuning
    if tuning is None:
        return None
    ranking = [
        {
            "n_clusters": choice.n_clusters,
            "scale": f"{choice.max_rank:,}"
            if choice.kernel == "landmarks"
            else _bandwidth(choice.bandwidth),
            "kernel": choice.kernel,
            "value": number(choice.value, 2) if tuning.by_quality else number(choice.value),
            "ams": number(choice.ams, 2),
            "chosen": choice.n_clusters == tuning.best_n_clusters,
        }
        for choice in tuning.ranking
    ]
    marked = tuning.best_n_clusters in tuning.surfaces.n_clusters
    return {
        "summary": tuning.summary(doubt=False),  # which the page has elsewhere
        "ranking": ranking,
        "marked": marked,
        "by_quality": tuning.by_quality,
    }


def _bandwidth(bandwidth: Any) -> str:
    if bandwidth is None:
        return "–"
    values = [number(float(value)) for value in np.ravel(bandwidth)]
    return ", ".join(values[:3]) + (", …" if len(values) > 3 else "")


def _no_tuning(facts: Facts) -> str:
    """Why nothing is said about the choice."""
    if hasattr(facts.estimator, "tuning_"):
        return str(facts.estimator.tuning_.summary(doubt=False))
    asked = facts.estimator.n_clusters
    if isinstance(asked, int | np.integer):
        return (
            f"The number of clusters was given, {asked}; nothing was searched for. With "
            'n_clusters="auto" the data itself is asked.'
        )
    return "What the search for the number of clusters found was not kept with this model."


def _spectrum_caption(facts: Facts) -> str:
    used = facts.n_clusters - 1
    which = (
        "The first eigenvalue separates" if used == 1 else f"The first {used} eigenvalues separate"
    )
    text = (
        f"{which} the {facts.n_clusters} clusters. An eigenvalue near 1 means that a cluster is "
        "well apart."
    )
    values = facts.spectrum
    if len(values) > used > 0:
        last, following = (number(float(value)) for value in values[used - 1 : used + 1])
        text += f" The next one is {following}, after {last}."
    return text

"""Steps of the segmentation of images, pixel by pixel."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

CELL = 8


def squared_error(colours):
    """Of colours around their mean."""
    return float(((colours - colours.mean(axis=0)) ** 2).sum())


def palette(rgb, levels):
    """Wu's palette from the lists of colours in each box, with every cut tried."""
    boxes = [rgb.reshape(-1, 3).astype(np.float64)]
    while len(boxes) < levels:
        order = sorted(range(len(boxes)), key=lambda box: -squared_error(boxes[box]))
        for worst in order:
            parts = best_cut(boxes[worst])
            if parts is not None:
                boxes[worst : worst + 1] = parts
                break
        else:
            break
    return np.rint([box.mean(axis=0) for box in boxes]).astype(np.uint8)


def best_cut(colours):
    """The two parts of least error, cut between two cells; None if all is in one."""
    cuts = []
    for axis in range(3):
        cells = colours[:, axis] // CELL
        for place in range(32):
            low, high = colours[cells <= place], colours[cells > place]
            if len(low) and len(high):
                cuts.append((squared_error(low) + squared_error(high), axis, place, [low, high]))
    return min(cuts, key=lambda cut: round(cut[0], 6))[3] if cuts else None


def dithered(rgb, colours):
    """Floyd and Steinberg's loop, with clipped values."""
    height, width = rgb.shape[:2]
    work = rgb.astype(np.float32)
    colours = np.asarray(colours, dtype=np.float32)
    indices = np.zeros((height, width), dtype=np.uint8)
    for i in range(height):
        for j in range(width):
            value = np.clip(work[i, j], 0, 255)
            index = np.argmin(((value - colours) ** 2).sum(axis=1))
            indices[i, j] = index
            error = value - colours[index]
            for down, right, share in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
                if i + down < height and 0 <= j + right < width:
                    work[i + down, j + right] += error * np.float32(share / 16)
    return indices


def histograms(indices, levels, window):
    """Count the colours in every window."""
    height, width = indices.shape
    half = window // 2
    result = np.zeros((height, width, levels))
    for i in range(height):
        for j in range(width):
            part = indices[max(i - half, 0) : i + half + 1, max(j - half, 0) : j + half + 1]
            result[i, j] = np.bincount(part.ravel(), minlength=levels) / part.size
    return result


def differences(labels):
    """Whether a pixel differs from the next ones to the right, below and between."""
    height, width = labels.shape
    result = np.zeros((height, width), dtype=bool)
    for i in range(height):
        for j in range(width):
            result[i, j] = len(np.unique(labels[i : i + 2, j : j + 2])) > 1
    return result


def matched_pairs(pixels, targets, radius):
    """Number of pairs of the matching with the most pairs and the least total distance."""
    distance = cdist(pixels, targets)
    rows, columns = linear_sum_assignment(np.where(distance <= radius, distance, 100 * radius))
    return int((distance[rows, columns] <= radius).sum())


def n_pieces(mask):
    """Connected pieces, corners included, by flooding."""
    left = {tuple(place) for place in np.argwhere(mask)}
    count = 0
    while left:
        count += 1
        flood = [left.pop()]
        while flood:
            i, j = flood.pop()
            near = {(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
            left -= near
            flood += near
    return count


def neighbours(labels):
    """Pairs of places that share a side, both within the image."""
    for place in np.ndindex(labels.shape):
        for axis in range(labels.ndim):
            other = tuple(one + (axis == k) for k, one in enumerate(place))
            if other[axis] < labels.shape[axis]:
                yield place, other


def common_boundaries(labels, gradients):
    """Length and sums of gradients, above those within the regions, for each pair of regions."""
    found = {}
    for one, two in neighbours(labels):
        a, b = sorted((int(labels[one]), int(labels[two])))
        if a != b and a >= 0:
            above = [(g[one] + g[two]) / 2 - within(labels, g, a, b) for g in gradients]
            terms = np.maximum([1.0, *above], 0.0)
            found[a, b] = found.get((a, b), 0.0) + terms
    return found


def within(labels, gradient, a, b, reach=3):
    """Gradient that two regions have anyway: in every pixel, and in half of the inner ones."""
    least, median = [], []
    for region in (a, b):
        places = [place for place in np.ndindex(labels.shape) if labels[place] == region]
        inner = sorted(
            gradient[place]
            for place in places
            if (
                labels[tuple(slice(max(k - reach, 0), k + reach + 1) for k in place)] == region
            ).all()
        )
        least.append(min(gradient[place] for place in places) if inner else 0.0)
        median.append(inner[(len(inner) - 1) // 2] if inner else 0.0)
    return max(*least, min(median))


def pieces(labels):
    """Number the connected pieces from 0, by joining neighbours until nothing changes."""
    numbers = np.arange(labels.size).reshape(labels.shape)
    changed = True
    while changed:
        changed = False
        for one, two in neighbours(labels):
            if labels[one] == labels[two] and numbers[one] != numbers[two]:
                numbers[one] = numbers[two] = min(numbers[one], numbers[two])
                changed = True
    return np.unique(numbers, return_inverse=True)[1].reshape(labels.shape)


def evidence(labels, gradients, colours, scores):
    """Logarithms of the mean gradients and of the distance of the mean scores of two regions.

    Neither lightness nor colour counts for more than the two mean colours differ.
    """
    found = {}
    sizes = np.bincount(labels[labels >= 0])
    for (a, b), (length, *sums) in common_boundaries(labels, gradients).items():
        along, most = np.array(sums) / length, np.linalg.norm(colours[a] - colours[b])
        apart = np.linalg.norm(scores[a] / sizes[a] - scores[b] / sizes[b])
        found[a, b] = np.log(0.5 + np.array([*np.minimum(along[:2], most), along[2], apart]))
    return found


def merged(labels, likely):
    """Label map and expected F of each number of regions, and the best number.

    By the mean of ``likely``, the likelihood of each boundary of the first level, along borders;
    with fewer regions than the best number, by its sum.
    """
    levels = _merged(labels, likely, 0)
    best = max(levels, key=lambda n: (levels[n][1], -n))
    return _merged(labels, likely, best), best


def _merged(labels, likely, best):
    lengths = {pair: terms[0] for pair, terms in common_boundaries(labels, []).items()}
    total = sum(likely[pair] * lengths[pair] for pair in likely)
    current, levels = labels.copy(), {}
    while True:
        now, drawn, matched = {}, 0.0, 0.0
        for pair, p in likely.items():
            a, b = sorted(current[labels == one][0] for one in pair)
            if a != b:
                now.setdefault((a, b), []).append((p, lengths[pair]))
                drawn, matched = drawn + lengths[pair], matched + p * lengths[pair]
        f = 2 * matched / (drawn + total) if drawn + total else 0.0
        levels[len(np.unique(current))] = current.copy(), f
        if not now:
            return levels
        cost = {pair: sum(p * length for p, length in parts) for pair, parts in now.items()}
        if len(levels) <= len(np.unique(labels)) - best:
            cost = {pair: cost[pair] / sum(length for _, length in now[pair]) for pair in now}
        a, b = min(cost, key=cost.get)
        current[current == b] = a

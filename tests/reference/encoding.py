"""Code books, prototypes, memberships and criteria, as the formulas say."""

from collections import Counter

import numpy as np


def code_words(rows):
    return [tuple(1 if value > 0 else -1 for value in row) for row in rows]


def code_book(rows, K):
    """The K most frequent sign patterns."""
    return [word for word, _ in Counter(code_words(rows)).most_common(K)]


def hamming(word, other):
    return sum(a != b for a, b in zip(word, other, strict=True))


def sign_labels(scores, book):
    return np.array(
        [min(range(len(book)), key=lambda k: hamming(word, book[k])) for word in code_words(scores)]
    )


def mean_of_word(rows, word):
    return np.mean([row for row, own in zip(rows, code_words(rows), strict=True) if own == word], 0)


def unit(vector):
    return np.asarray(vector) / np.linalg.norm(vector)


def cosine_distances(scores, prototypes):
    return np.array([[1 - unit(z) @ unit(p) for p in prototypes] for z in scores])


def chord_distances(scores, prototypes):
    return np.array([[np.linalg.norm(unit(z) - unit(p)) for p in prototypes] for z in scores])


def membership(distances):
    """cm_k = Π_{p≠k} d_p / Σ_j Π_{p≠j} d_p of one point."""
    K = len(distances)
    products = [np.prod([distances[p] for p in range(K) if p != k]) for k in range(K)]
    return np.array(products) / sum(products)


def balance(labels, K):
    sizes = [np.sum(labels == k) for k in range(K)]
    return min(sizes) / max(sizes)


def average_membership_strength(distances, labels, outlier_threshold=0):
    K = distances.shape[1]
    total = 0.0
    for k in range(K):
        own = [membership(row)[k] for row in distances[labels == k]]
        if len(own) > outlier_threshold:
            total += np.mean(own)
    return total / K


def balanced_angular_similarity(distances, labels, outlier_threshold=0):
    K = distances.shape[1]
    total = 0.0
    for k in range(K):
        own = [1 - np.sort(row)[0] / np.sort(row)[1] for row in distances[labels == k]]
        if len(own) > outlier_threshold:
            total += np.mean(own)
    return total / K


def balanced_line_fit(scores, labels, K, outlier_threshold=1):
    """Line fit for K > 2: 1/K · (K−1)/(K−2) · Σ_k [λ₁/Σλ − 1/(K−1)]."""
    total = 0.0
    for k in range(K):
        own = scores[labels == k]
        if len(own) > max(outlier_threshold, 1):
            values = np.linalg.eigvalsh(np.cov(own.T, bias=True))
            total += values.max() / values.sum() - 1 / (K - 1)
    return total * (K - 1) / (K - 2) / K


def line_fit_of_two(scores, kernel_sums, labels):
    """Line fit for K = 2: Σ_k [λ₁/(λ₁+λ₂) − 1/2] with the second variable Σ_r k(x, p_r) + b₁."""
    total = 0.0
    for k in range(2):
        own = np.column_stack([scores[labels == k, 0], kernel_sums[labels == k]])
        values = np.linalg.eigvalsh(np.cov(own.T, bias=True))
        total += values.max() / values.sum() - 0.5
    return total

/* The parts of an exported model's code. `hedgerow.export.c` takes those that a model needs and
   replaces words in capitals: a part is a function with its comment, between empty lines. */

/* Whether a set has a code; its last bit is for what is missing or was never seen. */
static inline int _m_has(INDEX set, INPUT code) {
  const INDEX n = INT(&_m_sets[set]);
  const INDEX bit = IS_KNOWN ? (INDEX)code : n;
  return INT(&_m_sets[set + 1 + bit / SET_BITS]) >> bit % SET_BITS & 1;
}

/* A weight times the distance from a centre. */
static inline double _m_term(INDEX term, const INPUT *x) {
  return ((double)x[INT(&_m_term_columns[term])] - REAL(&_m_terms[term][1])) * REAL(&_m_terms[term][0]);
}

/* Terms side by side in eight sums where all numbers are known; then those of categories. */
static inline double _m_sum(INDEX sum, const INPUT *x) {
  const INDEX first = INT(&_m_sums[sum][0]), last = INT(&_m_sums[sum][1]);
  const INDEX tables = INT(&_m_sums[sum][3]), tables_end = INT(&_m_sums[sum][4]);
  double total = 0.0, s[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, term;
  int is_known = 0;
  INDEX i = first, lane;
  if (INT(&_m_sums[sum][2])) {
    while (i + 4 <= last) {
      const INDEX group = i + 8 <= last ? 8 : 4;
      for (lane = 0; lane < group; lane++) s[lane] += _m_term(i + lane, x);
      i += group;
    }
    total = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    for (; i < last; i++) total += _m_term(i, x);
    is_known = total == total;
  }
  if (!is_known) {
    total = 0.0;
    for (i = first; i < last; i++) {
      const double distance = (double)x[INT(&_m_term_columns[i])] - REAL(&_m_terms[i][1]);
      term = _m_term(i, x);
      if (distance == distance) total += term;
    }
  }
  for (i = tables; i < tables_end; i++) {
    const INDEX n = INT(&_m_weight_tables[i][1]), at = INT(&_m_weight_tables[i][2]);
    const double code = (double)x[INT(&_m_weight_tables[i][0])];
    const INDEX place = code >= 0 && code < n ? (INDEX)code : n;
    total += REAL(&_m_weights[at + place]);
  }
  return total;
}

/* A leaf's values. */
static inline void _m_add_leaf(const LEAF *said, INDEX width, SUM *sums) {
  INDEX i;
  for (i = 0; i < width; i++) sums[i] += VALUE(&said[i]);
}

/* Leaves of graphs, added up in order. */
static inline void _m_walk(const INPUT *x, INDEX first, INDEX n, const LEAF *leaves,
                             const SUM *start, int in_turns, INDEX width, SUM *sums) {
  INDEX g, i;
  for (i = 0; i < width; i++) sums[i] = NUMBER(&start[i]);
  for (g = 0; g < n; g++) {
    const LEAF *said = leaves + _m_leaf(x, first + g) * (in_turns ? 1 : width);
    if (in_turns) sums[g % width] += VALUE(&said[0]);
    else for (i = 0; i < width; i++) sums[i] += VALUE(&said[i]);
  }
}

static inline void _m_scale(double *numbers, INDEX n, double factor) {
  INDEX i;
  for (i = 0; i < n; i++) numbers[i] *= factor;
}

/* The first of the largest. */
static inline INDEX _m_largest(const double *numbers, INDEX n) {
  INDEX best = 0, i;
  for (i = 1; i < n; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

static inline void _m_take(const double *c, const COLUMN *columns, INDEX n, double *out) {
  INDEX i;
  for (i = 0; i < n; i++) out[i] = c[INT(&columns[i])];
}

static inline void _m_recode(const double *c, INDEX column, const int32_t *table, INDEX n, double *out) {
  const double code = c[column];
  const int32_t place = code >= 0 && code < n ? (int32_t)INT(&table[(INDEX)code]) : -1;
  out[0] = place < 0 ? NAN : place;
}

static inline void _m_add(const double *c, const COLUMN *parts, INDEX n, INDEX width, double *out) {
  INDEX k, i;
  _m_take(c, parts, width, out);
  for (k = 1; k < n; k++)
    for (i = 0; i < width; i++) out[i] += c[INT(&parts[k * width + i])];
}

static inline void _m_divide(const double *c, const COLUMN *columns, INDEX n, double divisor, double *out) {
  INDEX i;
  for (i = 0; i < n; i++) out[i] = c[INT(&columns[i])] / divisor;
}

static inline void _m_vote(const double *c, const COLUMN *columns, INDEX n, double chosen, double other, double *out) {
  INDEX i, best;
  _m_take(c, columns, n, out);
  best = _m_largest(out, n);
  for (i = 0; i < n; i++) out[i] = i == best ? chosen : other;
}

static inline void _m_place(const double *c, const COLUMN *columns, const COLUMN *places, INDEX n, INDEX total, double *out) {
  INDEX i;
  for (i = 0; i < total; i++) out[i] = 0.0;
  for (i = 0; i < n; i++) out[INT(&places[i])] = c[INT(&columns[i])];
}

static inline void _m_round(const double *c, const COLUMN *columns, INDEX n, double *out) {
  INDEX i;
  for (i = 0; i < n; i++) out[i] = (float)c[INT(&columns[i])];
}

/* 2 to the n, without touching bits. */
static inline double _m_two_to(int n) {
  double power = 1.0, factor = n < 0 ? 0.5 : 2.0;
  int left = n < 0 ? -n : n;
  for (; left; left >>= 1, factor *= factor) if (left & 1) power *= factor;
  return power;
}

/* The exponential of the model's own library, bit by bit: e^x = 2^k e^r, e^r by its series. */
static inline double _m_exponential(double x) {
  const double divisors[] = {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0};
  double upper, lower, r, series, power;
  int k, i;
  if (x != x) return x;
  if (x > 710.0) return INFINITY;
  if (x < -746.0) return 0.0;
  k = (int)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
  upper = x - k * 0.6931471805592082;
  lower = k * 7.371002565167799e-13;
  r = upper - lower;
  series = 1.0 / 6227020800.0;
  for (i = 0; i < 11; i++) series = 1.0 / divisors[i] + r * series;
  power = 1.0 + (upper + (r * r * series - lower));
  return power * _m_two_to(k / 2) * _m_two_to(k - k / 2);
}

static inline void _m_link_log(double *scores, INDEX n) {
  INDEX i;
  for (i = 0; i < n; i++) scores[i] = _m_exponential(scores[i]);
}

static inline void _m_link_logit(double *scores, INDEX n) {
  const double score = scores[n - 1];
  scores[0] = 1.0 / (1.0 + _m_exponential(score));
  scores[1] = 1.0 / (1.0 + _m_exponential(-score));
}

static inline void _m_link_softmax(double *scores, INDEX n) {
  const double most = scores[_m_largest(scores, n)];
  double sum = 0.0;
  INDEX i;
  for (i = 0; i < n; i++) sum += scores[i] = _m_exponential(scores[i] - most);
  for (i = 0; i < n; i++) scores[i] /= sum;
}

/* The weighted median. */
static inline double _m_median(const double *c, const COLUMN *columns, const double *weights, INDEX n) {
  INDEX order[MOST], i, j;
  double sum = 0.0, part = 0.0;
  for (i = 0; i < n; i++) {
    for (j = i; j > 0 && c[INT(&columns[order[j - 1]])] > c[INT(&columns[i])]; j--) order[j] = order[j - 1];
    order[j] = i;
  }
  for (i = 0; i < n; i++) sum += REAL(&weights[order[i]]);
  for (i = 0; i < n - 1; i++) {
    part += REAL(&weights[order[i]]);
    if (part >= 0.5 * sum) break;
  }
  return c[INT(&columns[order[i]])];
}

/* Gaps filled, categories as zeros and ones, standardised. */
static inline void _m_numbers(const double *c, const COLUMN *sources, const int32_t *categories, const double *fills,
                                const COLUMN *fill_columns, const double *mean, const double *scale, INDEX n, double *out) {
  INDEX j;
  for (j = 0; j < n; j++) {
    const int32_t category = (int32_t)INT(&categories[j]);
    double number = c[INT(&sources[j])];
    if (number != number) number = fill_columns ? c[INT(&fill_columns[j])] : REAL(&fills[j]);
    else if (category >= 0) number = number == category ? 1.0 : 0.0;
    out[j] = mean ? (number - REAL(&mean[j])) / REAL(&scale[j]) : number;
  }
}

static inline void _m_affine(const double *c, const COLUMN *columns, INDEX n, const double *matrix, const double *intercept,
                               INDEX width, double *out) {
  INDEX i, j;
  for (j = 0; j < width; j++) out[j] = 0.0;
  for (i = 0; i < n; i++)
    for (j = 0; j < width; j++) out[j] += c[INT(&columns[i])] * REAL(&matrix[i * width + j]);
  for (j = 0; j < width; j++) out[j] += REAL(&intercept[j]);
}

static inline void _m_distances(const double *c, const COLUMN *columns, INDEX n, const double *points, INDEX width, double *out) {
  INDEX i, j;
  for (j = 0; j < width; j++) {
    out[j] = 0.0;
    for (i = 0; i < n; i++) {
      const double distance = c[INT(&columns[i])] - REAL(&points[j * n + i]);
      out[j] += distance * distance;
    }
  }
}

/* Newton's steps on a number in [1, 4). */
static inline double _m_square_root(double x) {
  double scaled = x, factor = 1.0, y = 1.5;
  int i;
  if (!(x > 0.0)) return 0.0;
  if (x > DBL_MAX) return NAN;
  for (; scaled >= 4.0; factor *= 2.0) scaled /= 4.0;
  for (; scaled < 1.0; factor /= 2.0) scaled *= 4.0;
  for (i = 0; i < 6; i++) y = 0.5 * (y + scaled / y);
  return y * factor;
}

static inline void _m_activate_relu(double *numbers, INDEX n) {
  INDEX i;
  for (i = 0; i < n; i++) numbers[i] = numbers[i] > 0.0 ? numbers[i] : 0.0;
}

static inline void _m_activate_root(double *numbers, INDEX n) {
  INDEX i;
  for (i = 0; i < n; i++) numbers[i] = _m_square_root(numbers[i]);
}

static inline void _m_nearest(const double *c, const COLUMN *columns, INDEX n, const double *values, INDEX width, double *out) {
  INDEX best = 0, i;
  for (i = 1; i < n; i++) if (c[INT(&columns[i])] < c[INT(&columns[best])]) best = i;
  for (i = 0; i < width; i++) out[i] = REAL(&values[best * width + i]);
}

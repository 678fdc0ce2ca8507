// The parts of an exported model's code. `hedgerow.export.javascript` takes those that a model needs:
// a part is a function with its comment, between empty lines.

// The first columns: numbers, places of categories, NaN for what is missing or was never seen.
function read(row) {
  const isList = Array.isArray(row) || ArrayBuffer.isView(row);
  if (!isList && (row === null || typeof row !== "object"))
    throw new TypeError("a row is an object by the names of the features, or a list in their order");
  if (isList && row.length !== features.length)
    throw new RangeError(`a row has ${features.length} values, got ${row.length}`);
  const x = new Float64Array(model.width);
  for (let i = 0; i < features.length; i++) {
    const {name, categories} = features[i];
    if (!isList && name === null)
      throw new TypeError("the features have no names: a row is a list in their order");
    const value = isList ? row[i] : Object.hasOwn(row, name) ? row[name] : null;
    if (value === null || value === undefined) x[i] = NaN;
    else if (categories) x[i] = places[i].get(asKey(value)) ?? NaN;
    else if (typeof value === "number" || typeof value === "boolean") x[i] = Number(value);
    else throw new TypeError(`feature ${name ?? i} is a number or null, got a ${typeof value}`);
  }
  return x;
}

// Booleans are the numbers 0 and 1, as in Python.
function asKey(value) {
  return typeof value === "boolean" ? Number(value) : value;
}

// All columns, and those that are the values and the decisions.
function run(row) {
  const x = read(row);
  let at = features.length;
  for (const step of model.steps) {
    const made = step.make(step, x);
    if (made === null) return [step.columns, step.columns].map((columns) => taken(columns, x));
    x.set(made, at);
    at += made.length;
  }
  return [model.values, model.decisions].map((columns) => taken(columns, x));
}

function taken(columns, x) {
  return columns.map((column) => x[column]);
}

function largest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

// A test is five numbers: twice its kind plus whether missing values go left; its column; its
// threshold or set; its children. A child below 0 is leaf -1 - child.
function leafOf({tests, sets, obliques}, x) {
  let at = tests.length ? 0 : -1;
  while (at >= 0) {
    const i = 5 * at, kind = tests[i] >> 1;
    let left;
    if (kind === 3) {
      left = obliqueSum(obliques[tests[i + 1]], x) < tests[i + 2];
    } else {
      const value = x[tests[i + 1]];
      if (kind === 1) {
        left = value <= tests[i + 2] || (value !== value && (tests[i] & 1) === 1);
      } else {
        const bit = sets[tests[i + 2]][value];
        left = bit === undefined ? (tests[i] & 1) === 1 : bit === "1";
      }
    }
    at = tests[left ? i + 3 : i + 4];
  }
  return -1 - at;
}

// Weights times distances from centres; side by side in eight sums where all numbers are known.
function obliqueSum({columns, weights, centres, tables, inLanes}, x) {
  const n = columns.length;
  const terms = columns.map((column, i) => (x[column] - centres[i]) * weights[i]);
  let total = NaN;
  if (inLanes) {
    const s = [0, 0, 0, 0, 0, 0, 0, 0];
    let i = 0;
    while (i + 4 <= n) {
      const group = i + 8 <= n ? 8 : 4;
      for (let lane = 0; lane < group; lane++) s[lane] += terms[i + lane];
      i += group;
    }
    total = s[0] + s[4] + (s[2] + s[6]) + (s[1] + s[5] + (s[3] + s[7]));
    for (; i < n; i++) total += terms[i];
  }
  if (total !== total) {
    total = 0;
    columns.forEach((column, i) => {
      const distance = x[column] - centres[i];
      if (distance === distance) total += terms[i];
    });
  }
  for (const [column, ofCategory, missing] of tables) total += ofCategory[x[column]] ?? missing;
  return total;
}

function walk({graphs, start, inTurns, factor}, x) {
  const sums = [...start];
  graphs.forEach((graph, g) => {
    const said = graph.values[leafOf(graph, x)];
    if (inTurns) sums[g % sums.length] += said[0];
    else for (let i = 0; i < sums.length; i++) sums[i] += said[i];
  });
  return factor === 1 ? sums : sums.map((sum) => sum * factor);
}

function recode({column, table}, x) {
  const place = table[x[column]] ?? -1;
  return [place < 0 ? NaN : place];
}

function add({parts}, x) {
  const [first, ...others] = parts.map((columns) => taken(columns, x));
  return others.reduce((sums, part) => sums.map((sum, i) => sum + part[i]), first);
}

function divide({columns, divisor}, x) {
  return taken(columns, x).map((number) => number / divisor);
}

function vote({columns, chosen, other}, x) {
  const best = largest(taken(columns, x));
  return columns.map((_, i) => (i === best ? chosen : other));
}

function place({columns, places, total}, x) {
  const out = new Array(total).fill(0);
  columns.forEach((column, i) => (out[places[i]] = x[column]));
  return out;
}

function round({columns}, x) {
  return taken(columns, x).map(Math.fround);
}

function link({columns, name}, x) {
  const scores = taken(columns, x);
  if (name === "log") return scores.map(exponential);
  if (name === "softmax") return softmax(scores);
  return [1 / (1 + exponential(scores[0])), 1 / (1 + exponential(-scores[0]))];
}

function softmax(scores) {
  const most = scores[largest(scores)];
  const powers = scores.map((score) => exponential(score - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

function median({columns, weights}, x) {
  const numbers = taken(columns, x);
  const order = numbers.map((_, i) => i).sort((i, j) => numbers[i] - numbers[j] || i - j);
  let sum = 0;
  const sums = order.map((i) => (sum += weights[i]));
  return [numbers[order[sums.findIndex((part) => part >= 0.5 * sum)]]];
}

function exit({columns, gate}, x) {
  const numbers = taken(columns, x);
  return numbers[largest(numbers)] >= gate ? null : [];
}

function numbers({sources, categories, fills, fillColumns, mean, scale}, x) {
  return sources.map((source, j) => {
    let number = x[source];
    if (number !== number) number = fillColumns ? x[fillColumns[j]] : fills[j];
    else if (categories[j] >= 0) number = number === categories[j] ? 1 : 0;
    return mean ? (number - mean[j]) / scale[j] : number;
  });
}

function affine({columns, matrix, intercept}, x) {
  const sums = intercept.map(() => 0);
  columns.forEach((column, i) => matrix[i].forEach((weight, j) => (sums[j] += x[column] * weight)));
  return sums.map((sum, j) => sum + intercept[j]);
}

function distances({columns, points}, x) {
  return points.map((point) =>
    columns.reduce((sum, column, i) => sum + (x[column] - point[i]) * (x[column] - point[i]), 0),
  );
}

function activate({columns, name, factor, groups}, x) {
  const read = taken(columns, x);
  if (name === "relu") return read.map((number) => (number > 0 ? number : 0));
  if (name === "root") return read.map(squareRoot);
  const scaled = read.map((number) => factor * number);
  if (name === "bump") return scaled.map(exponential);
  return groups.flatMap((start, g) => softmax(scaled.slice(start, groups[g + 1])));
}

function nearest({columns, values}, x) {
  return values[largest(columns.map((column) => -x[column]))];
}

// The exponential of the model's own library, bit by bit: e^x = 2^k e^r, e^r by its series.
function exponential(x) {
  if (x !== x) return x;
  if (x > 710) return Infinity;
  if (x < -746) return 0;
  const k = Math.trunc(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  const high = x - k * 0.6931471805592082, low = k * 7.371002565167799e-13, r = high - low;
  let series = 1 / 6227020800;
  for (const divisor of [479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2])
    series = 1 / divisor + r * series;
  const power = 1 + (high + (r * r * series - low)), half = Math.trunc(k / 2);
  return power * twoTo(half) * twoTo(k - half);
}

function twoTo(n) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(0, (1023 + n) << 20);
  return bits.getFloat64(0);
}

// Newton's steps on a number in [1, 4).
function squareRoot(x) {
  if (!(x > 0)) return 0;
  if (x === Infinity) return NaN;
  let scaled = x, factor = 1;
  for (; scaled >= 4; factor *= 2) scaled /= 4;
  for (; scaled < 1; factor /= 2) scaled *= 4;
  let y = 1.5;
  for (let i = 0; i < 6; i++) y = 0.5 * (y + scaled / y);
  return y * factor;
}

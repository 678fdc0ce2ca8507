-- adult: TreeInTreeClassifier of 34 tests
-- written by hedgerow 0.1.0, checksum fc00d4ca3bb5ca0c
-- classes: poor, rich
-- duckdb; NULL is missing
WITH
step_0 AS MATERIALIZED (
  SELECT NULLIF(CAST("age" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "age",
    CAST("workclass" AS VARCHAR) AS "workclass",
    CAST("education" AS VARCHAR) AS "education",
    NULLIF(CAST("education-num" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "education_num",
    CAST("occupation" AS VARCHAR) AS "occupation",
    CAST("relationship" AS VARCHAR) AS "relationship",
    NULLIF(CAST("capital-gain" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "capital_gain",
    NULLIF(CAST("capital-loss" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "capital_loss",
    NULLIF(CAST("hours-per-week" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "hours_per_week"
  FROM "people"
),
leaves_0 (leaf, v0, v1) AS MATERIALIZED (
  VALUES
    (0, 0.03903903903903904e0, 0.960960960960961e0),
    (1, 0.9834862385321101e0, 0.01651376146788991e0),
    (2, 0.4772727272727273e0, 0.5227272727272727e0),
    (3, 0.9552262336433864e0, 0.04477376635661359e0),
    (4, 0.8678899082568807e0, 0.13211009174311927e0),
    (5, 0.8006535947712419e0, 0.19934640522875818e0),
    (6, 0.5679442508710801e0, 0.43205574912891986e0),
    (7, 0.019157088122605363e0, 0.9808429118773946e0),
    (8, 0.9157392686804452e0, 0.08426073131955485e0),
    (9, 0.8282887077997672e0, 0.17171129220023282e0),
    (10, 0.8299418604651163e0, 0.17005813953488372e0),
    (11, 0.6372265786215435e0, 0.3627734213784565e0),
    (12, 0.7628726287262872e0, 0.23712737127371275e0),
    (13, 0.8266384778012685e0, 0.1733615221987315e0),
    (14, 0.9420289855072463e0, 0.057971014492753624e0),
    (15, 0.5751014884979703e0, 0.4248985115020298e0),
    (16, 0.7132867132867133e0, 0.2867132867132867e0),
    (17, 0.6226415094339622e0, 0.37735849056603776e0),
    (18, 0.39311043566362713e0, 0.6068895643363729e0),
    (19, 0.004424778761061947e0, 0.995575221238938e0),
    (20, 0.07975460122699386e0, 0.9202453987730062e0),
    (21, 0.5707831325301205e0, 0.4292168674698795e0),
    (22, 1.0e0, 0.0e0),
    (23, 0.02434077079107505e0, 0.9756592292089249e0),
    (24, 0.5806451612903226e0, 0.41935483870967744e0),
    (25, 0.5432098765432098e0, 0.4567901234567901e0),
    (26, 0.7948717948717948e0, 0.20512820512820512e0),
    (27, 0.25932276039434204e0, 0.7406772396056579e0)
),
step_1 AS MATERIALIZED (
  SELECT "age", "workclass", "education", "education_num", "occupation", "relationship", "capital_gain", "capital_loss", "hours_per_week",
    CASE WHEN "capital_gain" > 5095.5e0 THEN 19 ELSE CASE WHEN "occupation" IN ('Exec-managerial', 'Prof-specialty', 'Protective-serv', 'Sales', 'Tech-support') THEN CASE WHEN "capital_loss" <= 1782.5e0 THEN CASE WHEN "age" <= 28.5e0 THEN 24 ELSE CASE WHEN "hours_per_week" <= 31.0e0 THEN 25 ELSE CASE WHEN "capital_gain" > 3120.0e0 THEN 26 ELSE CASE WHEN "capital_loss" > 1512.0e0 THEN 22 ELSE 27 END END END END ELSE 23 END ELSE CASE WHEN "capital_loss" > 1782.5e0 THEN 20 ELSE CASE WHEN "capital_loss" > 1529.0e0 THEN 22 ELSE 21 END END END END AS "_g0n25",
    CASE WHEN "capital_gain" > 5095.5e0 THEN 7 ELSE CASE WHEN "occupation" IN ('Adm-clerical', 'Craft-repair', 'Farming-fishing', 'Handlers-cleaners', 'Machine-op-inspct', 'Other-service', 'Transport-moving') THEN CASE WHEN "education_num" <= 8.5e0 THEN 8 ELSE CASE WHEN "age" <= 35.5e0 THEN 9 ELSE CASE WHEN "occupation" IN ('Farming-fishing', 'Handlers-cleaners', 'Other-service') THEN 10 ELSE 11 END END END ELSE CASE WHEN "age" <= 33.5e0 THEN 12 ELSE CASE WHEN "education_num" <= 9.5e0 THEN CASE WHEN "workclass" IN ('Federal-gov', 'Local-gov', 'Private', 'Self-emp-inc', 'State-gov') THEN CASE WHEN "hours_per_week" <= 25.5e0 THEN 14 ELSE 15 END ELSE 13 END ELSE CASE WHEN "hours_per_week" <= 34.5e0 THEN 16 ELSE CASE WHEN "workclass" IN ('Self-emp-not-inc', 'State-gov') THEN 17 ELSE 18 END END END END END END AS "_g0n14",
    CASE WHEN "education_num" > 12.5e0 THEN CASE WHEN "hours_per_week" > 43.5e0 THEN CASE WHEN "occupation" IN ('Exec-managerial', 'Handlers-cleaners', 'Protective-serv', 'Sales', 'Tech-support') THEN 6 ELSE 5 END ELSE 4 END ELSE 3 END AS "_g0n8"
  FROM step_0
),
step_2 AS MATERIALIZED (
  SELECT "age", "workclass", "education", "education_num", "occupation", "relationship", "capital_gain", "capital_loss", "hours_per_week", "_g0n25", "_g0n14", "_g0n8",
    CASE WHEN "age" <= 32.5e0 THEN 1 ELSE CASE WHEN "education_num" > 12.5e0 THEN CASE WHEN "education_num" > 14.5e0 THEN 2 ELSE "_g0n8" END ELSE "_g0n8" END END AS "_g0n5"
  FROM step_1
),
step_3 AS MATERIALIZED (
  SELECT "age", "workclass", "education", "education_num", "occupation", "relationship", "capital_gain", "capital_loss", "hours_per_week", "_g0n25", "_g0n14", "_g0n8", "_g0n5",
    CASE WHEN "relationship" IN ('Not-in-family', 'Other-relative', 'Own-child', 'Unmarried') THEN CASE WHEN "capital_gain" > 7073.5e0 THEN 0 ELSE CASE WHEN "hours_per_week" > 43.5e0 THEN CASE WHEN "education" IN ('Bachelors', 'Doctorate', 'Masters') THEN "_g0n5" ELSE CASE WHEN "capital_loss" > 2391.5e0 THEN 0 ELSE "_g0n5" END END ELSE "_g0n5" END END ELSE CASE WHEN "education_num" > 12.5e0 THEN "_g0n25" ELSE CASE WHEN "capital_loss" > 1448.0e0 THEN CASE WHEN "capital_loss" > 1989.5e0 THEN "_g0n14" ELSE "_g0n25" END ELSE "_g0n14" END END END AS "_g0"
  FROM step_2
),
step_4 AS MATERIALIZED (
  SELECT l0.v0 AS "_c0",
    l0.v1 AS "_c1"
  FROM step_3
    JOIN leaves_0 AS l0 ON l0.leaf = "_g0"
),
step_5 AS MATERIALIZED (
  SELECT "_c0", "_c1",
    greatest("_c0", "_c1") AS _most
  FROM step_4
)
SELECT
  CASE WHEN "_c0" = _most THEN 'poor' ELSE 'rich' END AS prediction,
  "_c0" AS "probability_poor",
  "_c1" AS "probability_rich"
FROM step_5;

/* adult: TreeInTreeClassifier of 34 tests
 * written by hedgerow 0.1.0, checksum fc00d4ca3bb5ca0c
 * classes: poor, rich
 * uint8 leaves: values are within 0.0019 of the model's
 * and 0 of 2000 rows at its thresholds have another class
 * x: 14 numbers of type int32_t, missing: ADULT_MISSING; test: cc -std=c99 -DADULT_TEST -x c FILE -o test && ./test
 */
#ifndef ADULT_H
#define ADULT_H

#include <stdint.h>


enum { /* places in x */
  ADULT_AGE = 0, /* age */
  ADULT_WORKCLASS = 1, /* workclass */
  ADULT_FNLWGT = 2, /* fnlwgt */
  ADULT_EDUCATION = 3, /* education */
  ADULT_EDUCATION_NUM = 4, /* education-num */
  ADULT_MARITAL_STATUS = 5, /* marital-status */
  ADULT_OCCUPATION = 6, /* occupation */
  ADULT_RELATIONSHIP = 7, /* relationship */
  ADULT_RACE = 8, /* race */
  ADULT_SEX = 9, /* sex */
  ADULT_CAPITAL_GAIN = 10, /* capital-gain */
  ADULT_CAPITAL_LOSS = 11, /* capital-loss */
  ADULT_HOURS_PER_WEEK = 12, /* hours-per-week */
  ADULT_NATIVE_COUNTRY = 13, /* native-country */
};
enum { /* workclass */
  ADULT_WORKCLASS_FEDERAL_GOV = 0, /* Federal-gov */
  ADULT_WORKCLASS_LOCAL_GOV = 1, /* Local-gov */
  ADULT_WORKCLASS_NEVER_WORKED = 2, /* Never-worked */
  ADULT_WORKCLASS_PRIVATE = 3, /* Private */
  ADULT_WORKCLASS_SELF_EMP_INC = 4, /* Self-emp-inc */
  ADULT_WORKCLASS_SELF_EMP_NOT_INC = 5, /* Self-emp-not-inc */
  ADULT_WORKCLASS_STATE_GOV = 6, /* State-gov */
  ADULT_WORKCLASS_WITHOUT_PAY = 7, /* Without-pay */
};
enum { /* education */
  ADULT_EDUCATION_10TH = 0, /* 10th */
  ADULT_EDUCATION_11TH = 1, /* 11th */
  ADULT_EDUCATION_12TH = 2, /* 12th */
  ADULT_EDUCATION_1ST_4TH = 3, /* 1st-4th */
  ADULT_EDUCATION_5TH_6TH = 4, /* 5th-6th */
  ADULT_EDUCATION_7TH_8TH = 5, /* 7th-8th */
  ADULT_EDUCATION_9TH = 6, /* 9th */
  ADULT_EDUCATION_ASSOC_ACDM = 7, /* Assoc-acdm */
  ADULT_EDUCATION_ASSOC_VOC = 8, /* Assoc-voc */
  ADULT_EDUCATION_BACHELORS = 9, /* Bachelors */
  ADULT_EDUCATION_DOCTORATE = 10, /* Doctorate */
  ADULT_EDUCATION_HS_GRAD = 11, /* HS-grad */
  ADULT_EDUCATION_MASTERS = 12, /* Masters */
  ADULT_EDUCATION_PRESCHOOL = 13, /* Preschool */
  ADULT_EDUCATION_PROF_SCHOOL = 14, /* Prof-school */
  ADULT_EDUCATION_SOME_COLLEGE = 15, /* Some-college */
};
enum { /* marital-status */
  ADULT_MARITAL_STATUS_DIVORCED = 0, /* Divorced */
  ADULT_MARITAL_STATUS_MARRIED_AF_SPOUSE = 1, /* Married-AF-spouse */
  ADULT_MARITAL_STATUS_MARRIED_CIV_SPOUSE = 2, /* Married-civ-spouse */
  ADULT_MARITAL_STATUS_MARRIED_SPOUSE_ABSENT = 3, /* Married-spouse-absent */
  ADULT_MARITAL_STATUS_NEVER_MARRIED = 4, /* Never-married */
  ADULT_MARITAL_STATUS_SEPARATED = 5, /* Separated */
  ADULT_MARITAL_STATUS_WIDOWED = 6, /* Widowed */
};
enum { /* occupation */
  ADULT_OCCUPATION_ADM_CLERICAL = 0, /* Adm-clerical */
  ADULT_OCCUPATION_ARMED_FORCES = 1, /* Armed-Forces */
  ADULT_OCCUPATION_CRAFT_REPAIR = 2, /* Craft-repair */
  ADULT_OCCUPATION_EXEC_MANAGERIAL = 3, /* Exec-managerial */
  ADULT_OCCUPATION_FARMING_FISHING = 4, /* Farming-fishing */
  ADULT_OCCUPATION_HANDLERS_CLEANERS = 5, /* Handlers-cleaners */
  ADULT_OCCUPATION_MACHINE_OP_INSPCT = 6, /* Machine-op-inspct */
  ADULT_OCCUPATION_OTHER_SERVICE = 7, /* Other-service */
  ADULT_OCCUPATION_PRIV_HOUSE_SERV = 8, /* Priv-house-serv */
  ADULT_OCCUPATION_PROF_SPECIALTY = 9, /* Prof-specialty */
  ADULT_OCCUPATION_PROTECTIVE_SERV = 10, /* Protective-serv */
  ADULT_OCCUPATION_SALES = 11, /* Sales */
  ADULT_OCCUPATION_TECH_SUPPORT = 12, /* Tech-support */
  ADULT_OCCUPATION_TRANSPORT_MOVING = 13, /* Transport-moving */
};
enum { /* relationship */
  ADULT_RELATIONSHIP_HUSBAND = 0, /* Husband */
  ADULT_RELATIONSHIP_NOT_IN_FAMILY = 1, /* Not-in-family */
  ADULT_RELATIONSHIP_OTHER_RELATIVE = 2, /* Other-relative */
  ADULT_RELATIONSHIP_OWN_CHILD = 3, /* Own-child */
  ADULT_RELATIONSHIP_UNMARRIED = 4, /* Unmarried */
  ADULT_RELATIONSHIP_WIFE = 5, /* Wife */
};
enum { /* race */
  ADULT_RACE_AMER_INDIAN_ESKIMO = 0, /* Amer-Indian-Eskimo */
  ADULT_RACE_ASIAN_PAC_ISLANDER = 1, /* Asian-Pac-Islander */
  ADULT_RACE_BLACK = 2, /* Black */
  ADULT_RACE_OTHER = 3, /* Other */
  ADULT_RACE_WHITE = 4, /* White */
};
enum { /* sex */
  ADULT_SEX_FEMALE = 0, /* Female */
  ADULT_SEX_MALE = 1, /* Male */
};
enum { /* native-country */
  ADULT_NATIVE_COUNTRY_CAMBODIA = 0, /* Cambodia */
  ADULT_NATIVE_COUNTRY_CANADA = 1, /* Canada */
  ADULT_NATIVE_COUNTRY_CHINA = 2, /* China */
  ADULT_NATIVE_COUNTRY_COLUMBIA = 3, /* Columbia */
  ADULT_NATIVE_COUNTRY_CUBA = 4, /* Cuba */
  ADULT_NATIVE_COUNTRY_DOMINICAN_REPUBLIC = 5, /* Dominican-Republic */
  ADULT_NATIVE_COUNTRY_ECUADOR = 6, /* Ecuador */
  ADULT_NATIVE_COUNTRY_EL_SALVADOR = 7, /* El-Salvador */
  ADULT_NATIVE_COUNTRY_ENGLAND = 8, /* England */
  ADULT_NATIVE_COUNTRY_FRANCE = 9, /* France */
  ADULT_NATIVE_COUNTRY_GERMANY = 10, /* Germany */
  ADULT_NATIVE_COUNTRY_GREECE = 11, /* Greece */
  ADULT_NATIVE_COUNTRY_GUATEMALA = 12, /* Guatemala */
  ADULT_NATIVE_COUNTRY_HAITI = 13, /* Haiti */
  ADULT_NATIVE_COUNTRY_HOLAND_NETHERLANDS = 14, /* Holand-Netherlands */
  ADULT_NATIVE_COUNTRY_HONDURAS = 15, /* Honduras */
  ADULT_NATIVE_COUNTRY_HONG = 16, /* Hong */
  ADULT_NATIVE_COUNTRY_HUNGARY = 17, /* Hungary */
  ADULT_NATIVE_COUNTRY_INDIA = 18, /* India */
  ADULT_NATIVE_COUNTRY_IRAN = 19, /* Iran */
  ADULT_NATIVE_COUNTRY_IRELAND = 20, /* Ireland */
  ADULT_NATIVE_COUNTRY_ITALY = 21, /* Italy */
  ADULT_NATIVE_COUNTRY_JAMAICA = 22, /* Jamaica */
  ADULT_NATIVE_COUNTRY_JAPAN = 23, /* Japan */
  ADULT_NATIVE_COUNTRY_LAOS = 24, /* Laos */
  ADULT_NATIVE_COUNTRY_MEXICO = 25, /* Mexico */
  ADULT_NATIVE_COUNTRY_NICARAGUA = 26, /* Nicaragua */
  ADULT_NATIVE_COUNTRY_OUTLYING_US_GUAM_USVI_ETC = 27, /* Outlying-US(Guam-USVI-etc) */
  ADULT_NATIVE_COUNTRY_PERU = 28, /* Peru */
  ADULT_NATIVE_COUNTRY_PHILIPPINES = 29, /* Philippines */
  ADULT_NATIVE_COUNTRY_POLAND = 30, /* Poland */
  ADULT_NATIVE_COUNTRY_PORTUGAL = 31, /* Portugal */
  ADULT_NATIVE_COUNTRY_PUERTO_RICO = 32, /* Puerto-Rico */
  ADULT_NATIVE_COUNTRY_SCOTLAND = 33, /* Scotland */
  ADULT_NATIVE_COUNTRY_SOUTH = 34, /* South */
  ADULT_NATIVE_COUNTRY_TAIWAN = 35, /* Taiwan */
  ADULT_NATIVE_COUNTRY_THAILAND = 36, /* Thailand */
  ADULT_NATIVE_COUNTRY_TRINADAD_TOBAGO = 37, /* Trinadad&Tobago */
  ADULT_NATIVE_COUNTRY_UNITED_STATES = 38, /* United-States */
  ADULT_NATIVE_COUNTRY_VIETNAM = 39, /* Vietnam */
  ADULT_NATIVE_COUNTRY_YUGOSLAVIA = 40, /* Yugoslavia */
};
enum { /* class */
  ADULT_CLASS_POOR = 0, /* poor */
  ADULT_CLASS_RICH = 1, /* rich */
};
#define ADULT_MISSING INT32_MIN
static const uint8_t adult_sets[] = {
  6, 30, 16, 255, 233, 1, 14, 215, 99, 14, 245, 32, 14, 176, 0, 8, 164, 1, 8, 96, 0, 14, 247, 97,
};
/* Tests: column and marks, threshold or set, second child, first child. */
static const uint8_t adult_tests[][4] = {
  {29,0,11,1}, {42,255,34,2}, {50,43,3,5}, {13,2,5,4}, {46,252,34,5}, {0,32,6,35}, {18,12,7,8},
  {18,14,36,8}, {18,12,9,37}, {50,43,10,38}, {25,6,40,39}, {18,12,25,12}, {46,247,13,14},
  {46,251,14,25}, {42,254,41,15}, {25,9,19,16}, {16,8,17,42}, {0,35,18,43}, {25,12,45,44},
  {0,33,20,46}, {16,9,23,21}, {5,15,22,43}, {48,25,48,47}, {48,34,24,49}, {5,18,51,50},
  {42,254,52,26}, {25,21,29,27}, {46,250,53,28}, {46,249,55,54}, {44,250,56,30}, {0,28,31,57},
  {48,31,32,58}, {42,253,59,33}, {46,248,55,60},
};
static const int16_t adult_thresholds[] = {
  1448, 1512, 1529, 1782, 1989, 2391, 3120, 5095, 7073,
};
static const uint8_t adult_table_0[] = {
  245, 4, 133, 11, 34, 51, 110, 250, 21, 44, 43, 93, 60, 15, 108, 73, 96, 155, 254, 235, 109, 0, 249,
  107, 116, 52, 189,
};

/* Whether a set has a code; its last bit is for what is missing or was never seen. */
static inline int adult_has(uint32_t set, int32_t code) {
  const uint32_t n = adult_sets[set];
  const uint32_t bit = (uint32_t)code < n ? (uint32_t)code : n;
  return adult_sets[set + 1 + bit / 8] >> bit % 8 & 1;
}

/* The leaf of a row in a graph. */
static inline uint32_t adult_leaf(const int32_t *x, uint32_t graph) {
  uint32_t at = 0;
  (void)graph;
  while (at < 34) {
    const uint8_t *test = adult_tests[at];
    const uint32_t place = test[1];
    const uint32_t marks = test[0];
    const int32_t value = x[marks >> 2];
    const int is_missing_left = marks >> 1 & 1;
    int is_left;
    if (marks & 1) is_left = adult_has(place, x[marks >> 2]);
    else
    is_left = value == ADULT_MISSING ? is_missing_left : value <= (place < 247 ? (int32_t)place : (int32_t)adult_thresholds[place - 247]);
    at = test[2 + is_left];
  }
  return at - 34;
}

/* Sums of 8-bit leaves, of the second class alone: of 255. */
static inline void adult_sums(const int32_t *x, int32_t *sums) {
  sums[0] = adult_table_0[adult_leaf(x, 0)];
}
static inline int adult_predict(const int32_t *x) {
  return adult_table_0[adult_leaf(x, 0)] > 127;
}
static inline void adult_predict_proba(const int32_t *x, double *p) {
  int32_t sums[1];
  adult_sums(x, sums);
  p[0] = (255 - sums[0]) * 0.00392156862745098;
  p[1] = sums[0] * 0.00392156862745098;
}

#ifdef ADULT_TEST
static const int32_t adult_rows[] = {
  28, 1, 0, 3, (-2147483647 - 1), 5, 6, 0, 2, 0, 7073, 1989, 34, 13, 35, 6, (-2147483647 - 1), 12, 8,
  2, 6, 3, 3, 0, 5095, 1512, (-2147483647 - 1), 0, 32, 2, 1, 4, 9, (-2147483647 - 1), 6,
  (-2147483647 - 1), 4, 0, 3120, 2391, 30, 29, (-2147483647 - 1), 7, (-2147483647 - 1), 13, 12, 4, 6,
  2, (-2147483647 - 1), 0, (-2147483647 - 1), 1528, 43, 16, 33, 3, 1, 5, 14, 1, 6, 5, 0, 0, 7073,
  (-2147483647 - 1), 25, 3, 32, 0, 1, 15, 8, (-2147483647 - 1), 7, 2, 2, 1, 7073, 1989, 43, 33,
  (-2147483647 - 1), 5, (-2147483647 - 1), 7, 9, 4, 7, 5, 3, 1, 5095, 1511, 25, 20, 33, 1, 1,
  (-2147483647 - 1), 12, 1, 7, 1, 4, 1, 3119, 2391, 34, 7, 28, 6, (-2147483647 - 1), 8, 14, 6, 7, 4,
  (-2147483647 - 1), 1, (-2147483647 - 1), 1529, (-2147483647 - 1), 36, 35, 2, 0, 0,
  (-2147483647 - 1), 3, 7, 0, 0, 1, 7073, (-2147483647 - 1), 31, 23, 33, (-2147483647 - 1), 1, 10, 9,
  1, 8, 4, 2, (-2147483647 - 1), 7073, 1989, (-2147483647 - 1), 11, 28, 4, (-2147483647 - 1), 2, 12,
  6, 8, 0, 3, (-2147483647 - 1), 5095, 1512, 30, 40, 35, 0, 0, 11, 14, 3, 8, 3, 4, (-2147483647 - 1),
  3120, 2391, 43, 27, 32, 5, (-2147483647 - 1), 3, (-2147483647 - 1), 0, 8, (-2147483647 - 1),
  (-2147483647 - 1), (-2147483647 - 1), (-2147483647 - 1), 1529, 25, 14, (-2147483647 - 1), 1, 1, 12,
  8, 5, 8, 2, 0, (-2147483647 - 1), 7073, (-2147483647 - 1), 34, 1, 35, 7, 0, 5, 12, 3, 9,
  (-2147483647 - 1), 2, 0, 7073, 1989, 25, 31, 32, 3, (-2147483647 - 1), 14, 14, 0, 9, 2, 3, 0, 5095,
  1512, 34, 18, (-2147483647 - 1), (-2147483647 - 1), 1, 6, (-2147483647 - 1), 5, 9, 5, 4, 0, 3120,
  2391, (-2147483647 - 1), 5, 33, 4, (-2147483647 - 1), 15, 8, 2, 9, 1, (-2147483647 - 1), 0,
  (-2147483647 - 1), 1528, 31, 34, 28, 0, 1, 7, 9, (-2147483647 - 1), 9, 4, 0, 0, 7073,
  (-2147483647 - 1), 43, 21, (-2147483647 - 1), 6, 1, 0, 14, 5, 10, 1, 2, 1, 7073, 1989, 30, 9, 33, 2,
  (-2147483647 - 1), 9, (-2147483647 - 1), 2, 10, 4, 3, 1, 5095, 1511, 43, 38, 28, 7, 1, 1, 8,
  (-2147483647 - 1), 10, 0, 4, 1, 3119, 2391, 25, 25, 35, 3, (-2147483647 - 1), 10, 9, 4, 10, 3,
  (-2147483647 - 1), 1, (-2147483647 - 1), 1529, 34, 12,
};
static const double adult_answers[] = {
  0.00392156862745098, 0.996078431372549, 0.9568627450980391, 0.043137254901960784,
  0.8274509803921568, 0.17254901960784313, 0.9568627450980391, 0.043137254901960784,
  0.00392156862745098, 0.996078431372549, 0.984313725490196, 0.01568627450980392, 0.5725490196078431,
  0.42745098039215684, 0.9568627450980391, 0.043137254901960784, 0.984313725490196,
  0.01568627450980392, 0.0196078431372549, 0.9803921568627451, 0.9568627450980391,
  0.043137254901960784, 0.5725490196078431, 0.42745098039215684, 0.8666666666666667,
  0.13333333333333333, 0.5725490196078431, 0.42745098039215684, 0.9568627450980391,
  0.043137254901960784, 0.00392156862745098, 0.996078431372549, 0.984313725490196,
  0.01568627450980392, 0.39215686274509803, 0.6078431372549019, 0.9568627450980391,
  0.043137254901960784, 0.984313725490196, 0.01568627450980392, 0.8666666666666667,
  0.13333333333333333, 0.9568627450980391, 0.043137254901960784, 0.7647058823529411,
  0.23529411764705882, 0.9568627450980391, 0.043137254901960784,
};
static const int32_t adult_chosen[] = {
  1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0,
};
/* The number of rows with another answer than the model's own library gives. */
static inline int adult_self_test(void) {
  double p[2];
  int i, j, is_right, n_wrong = 0;
  for (i = 0; i < 24; i++) {
    const int32_t *x = adult_rows + i * 14;
    adult_predict_proba(x, p);
    is_right = adult_predict(x) == adult_chosen[i];
    for (j = 0; j < 2; j++) {
      const double answer = (double)adult_answers[i * 2 + j];
      if (p[j] != answer && (p[j] == p[j] || answer == answer)) is_right = 0;
    }
    n_wrong += !is_right;
  }
  return n_wrong;
}

int main(void) { return adult_self_test(); }
#endif
#endif

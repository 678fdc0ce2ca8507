"""The best model for any size: score at equal splits and at equal bytes.

Defaults, constants and ladders may be chosen on the sets of CHOOSE, never on those of REPORT.
"""

# Sets of the page; nothing of hedgerow's is chosen on them.
REPORT = {
    "california_housing": "regression",
    "bike_sharing_hour": "regression",
    "cpu_act": "regression",
    "diamonds": "regression",
    "house_8L": "regression",
    "airbnb_berlin": "regression",
    "adult": "classification",
    "bank_marketing": "classification",
    "magic": "classification",
    "spambase": "classification",
    "satimage": "classification",
    "student_dropout": "classification",
    "page_blocks": "classification",
    "credit_g": "classification",
}

# Sets on which settings may be chosen.
CHOOSE = {
    "abalone": "regression",
    "ailerons": "regression",
    "ames_house_prices": "regression",  # categories, missing values
    "casp": "regression",
    "elevators": "regression",
    "flights_3m": "regression",  # categories, very noisy
    "kin8nm": "regression",
    "pol": "regression",
    "puma32H": "regression",
    "car": "classification",  # categories
    "cmc": "classification",  # categories
    "connect4": "classification",  # categories
    "credit_a": "classification",  # categories, missing values
    "higgs_18k": "classification",
    "hypothyroid": "classification",  # categories, missing values
    "letter": "classification",
    "sick": "classification",  # categories, missing values
    "splice": "classification",  # categories
    "waveform5000": "classification",
    "wine_quality_white": "classification",
}

"""What DAX functions do to the lineage of their arguments, as tables of names.

A function that is in none of these tables transforms its arguments.
"""

from __future__ import annotations

# aggregate a column: SUM(Sales[Amount])
AGGREGATIONS = frozenset((
    "SUM", "AVERAGE", "AVERAGEA", "MIN", "MINA", "MAX", "MAXA", "COUNT", "COUNTA", "COUNTBLANK", "DISTINCTCOUNT",
    "DISTINCTCOUNTNOBLANK", "APPROXIMATEDISTINCTCOUNT", "PRODUCT", "MEDIAN", "GEOMEAN", "STDEV.P", "STDEV.S", "VAR.P",
    "VAR.S", "PERCENTILE.INC", "PERCENTILE.EXC", "FIRSTDATE", "LASTDATE", "STARTOFMONTH", "STARTOFQUARTER",
    "STARTOFYEAR", "ENDOFMONTH", "ENDOFQUARTER", "ENDOFYEAR",
))  # fmt: skip
# evaluate an expression for each row of a table and aggregate the results: SUMX(Sales, …)
ITERATORS = frozenset((
    "SUMX", "AVERAGEX", "MINX", "MAXX", "COUNTX", "COUNTAX", "PRODUCTX", "MEDIANX", "GEOMEANX", "STDEVX.P", "STDEVX.S",
    "VARX.P", "VARX.S", "PERCENTILEX.INC", "PERCENTILEX.EXC", "CONCATENATEX", "XIRR", "XNPV",
))  # fmt: skip
# the result contains no value of the argument
COUNTS = frozenset((
    "COUNT", "COUNTA", "COUNTAX", "COUNTX", "COUNTBLANK", "COUNTROWS", "DISTINCTCOUNT", "DISTINCTCOUNTNOBLANK",
    "APPROXIMATEDISTINCTCOUNT",
))  # fmt: skip
# the first argument is a condition, or a value that is compared
CONDITIONS = frozenset(("IF", "IF.EAGER", "SWITCH"))
# every argument is tested, and may be the result
CHOICES = frozenset(("COALESCE", "IFERROR"))
# filter arguments of CALCULATE that contain other filters
FILTER_WRAPPERS = frozenset(("KEEPFILTERS", "NONVISUAL"))
# return a table with the columns that are named: VALUES(Customer[City])
COLUMN_TABLES = frozenset((
    "VALUES", "DISTINCT", "ALL", "ALLSELECTED", "ALLNOBLANKROW", "ALLEXCEPT", "REMOVEFILTERS", "FILTERS",
    "ALLCROSSFILTERED",
))  # fmt: skip
# return dates: their arguments decide which rows there are
TIME_TABLES = frozenset((
    "DATESYTD", "DATESQTD", "DATESMTD", "DATESBETWEEN", "DATESINPERIOD", "DATEADD", "SAMEPERIODLASTYEAR",
    "PARALLELPERIOD", "PREVIOUSDAY", "PREVIOUSMONTH", "PREVIOUSQUARTER", "PREVIOUSYEAR", "NEXTDAY", "NEXTMONTH",
    "NEXTQUARTER", "NEXTYEAR", "DATESWTD", "DATESINPERIODWEEK",
))  # fmt: skip
# evaluate the first argument for the dates of the second one
TIME_TOTALS = frozenset((
    "TOTALYTD", "TOTALQTD", "TOTALMTD", "TOTALWTD", "OPENINGBALANCEMONTH", "OPENINGBALANCEQUARTER",
    "OPENINGBALANCEYEAR", "CLOSINGBALANCEMONTH", "CLOSINGBALANCEQUARTER", "CLOSINGBALANCEYEAR",
))  # fmt: skip
# pass the rows of their first argument on
TABLE_PASSES = frozenset(("SAMPLE", "KEEPFILTERS", "NONVISUAL", "DETAILROWS", "TOPNSKIP"))
SET_OPERATIONS = frozenset(("UNION", "INTERSECT", "EXCEPT"))
TABLE_PRODUCTS = frozenset((
    "CROSSJOIN", "GENERATE", "GENERATEALL", "NATURALINNERJOIN", "NATURALLEFTOUTERJOIN",
))  # fmt: skip
# order and partition of a window
WINDOW_PARTS = frozenset(("ORDERBY", "PARTITIONBY", "MATCHBY"))
# apply to measures that are not known when the model is written
OPAQUE_FUNCTIONS = frozenset((
    "SELECTEDMEASURE", "SELECTEDMEASURENAME", "SELECTEDMEASUREFORMATSTRING", "ISSELECTEDMEASURE",
))  # fmt: skip
# words that are arguments of functions, not names
KEYWORDS = frozenset((
    "ASC", "DESC", "DENSE", "SKIP", "BOTH", "NONE", "ONEWAY", "ONEWAY_LEFTFILTERSRIGHT", "ONEWAY_RIGHTFILTERSLEFT",
    "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "HOUR", "MINUTE", "SECOND", "TRUE", "FALSE", "BLANK", "INTEGER",
    "DOUBLE", "STRING", "BOOLEAN", "CURRENCY", "DATETIME", "DEFAULT", "KEEP", "REL", "ABS", "LAST", "FIRST",
    "ALPHABETICAL",
    "COMPACT", "CONTINUOUS", "EXTENDING", "ROWS", "COLUMNS", "LEFT", "RIGHT", "INNER", "UNICODE",
))  # fmt: skip

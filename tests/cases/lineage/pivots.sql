-- PIVOT and UNPIVOT.

-- case: pivot with two aggregates
-- table: sales(k, year, a)
select * from sales pivot (sum(a) as s, count(a) as n for year in (2020 as y20, 2021 as y21))
-- expect:
--   k     <- sales.k    direct/identity
--   y20_s <- sales.a    direct/aggregation
--   y20_s <- sales.year indirect/conditional
--   y20_n <- sales.a    direct/aggregation masked
--   y20_n <- sales.year indirect/conditional
--   y21_s <- sales.a    direct/aggregation
--   y21_s <- sales.year indirect/conditional
--   y21_n <- sales.a    direct/aggregation masked
--   y21_n <- sales.year indirect/conditional
--   *     <- sales.k    indirect/group_by

-- case: pivot of a type that PivotFirst does not take
-- table: notes(k, year, note string, day date)
select * from notes pivot (max(note) as m, min(day) as d for year in (2020))
-- expect:
--   k      <- notes.k    direct/identity
--   2020_m <- notes.note direct/aggregation
--   2020_m <- notes.year indirect/conditional
--   2020_d <- notes.day  direct/aggregation
--   2020_d <- notes.year indirect/conditional
--   *      <- notes.k    indirect/group_by

-- case: pivot on two columns after a filter
-- table: notes(k, year, note string, day date)
select * from (select k, year, note, day from notes where k > 1) pivot (count(*) for (year, note) in ((2020, 'x') as p, (2021, 'y') as q))
-- expect:
--   day <- notes.day  direct/identity
--   k   <- notes.k    direct/identity
--   p   <- notes.year indirect/conditional
--   p   <- notes.note indirect/conditional
--   q   <- notes.year indirect/conditional
--   q   <- notes.note indirect/conditional
--   *   <- notes.k    indirect/filter
--   *   <- notes.k    indirect/group_by
--   *   <- notes.day  indirect/group_by

-- case: unpivot that keeps nulls drops no row
-- table: wide(id, a, b)
select * from wide unpivot include nulls (v for n in (a, b))
-- expect:
--   id <- wide.id direct/identity
--   n  <- nothing
--   v  <- wide.a direct/identity
--   v  <- wide.b direct/identity

-- case: unpivot of several columns at once
-- table: t(a, b, c, k)
select * from t unpivot ((x, y) for n in ((a, b) as one, (c, k) as two))
-- expect:
--   n <- nothing
--   x <- t.a direct/identity
--   x <- t.c direct/identity
--   y <- t.b direct/identity
--   y <- t.k direct/identity
--   * <- t.a indirect/filter
--   * <- t.b indirect/filter
--   * <- t.c indirect/filter
--   * <- t.k indirect/filter

-- Generators. Their arguments are the values, and decide the number of rows.

-- case: explode an array
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select id, explode(l) as x from n
-- expect:
--   id <- n.id direct/identity
--   x  <- n.l direct/transformation
--   *  <- n.l indirect/filter

-- case: explode a map, posexplode, outer
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select key, value, pos, x from n lateral view explode(tags) m as key, value lateral view outer posexplode(l) p as pos, x
-- expect:
--   key   <- n.tags direct/transformation
--   value <- n.tags direct/transformation
--   pos   <- n.l direct/transformation
--   x     <- n.l direct/transformation
--   *     <- n.tags indirect/filter
--   *     <- n.l indirect/filter

-- case: inline returns the members of structs
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select id, inline(items) from n
-- expect:
--   id  <- n.id direct/identity
--   sku <- n.items direct/transformation
--   qty <- n.items direct/transformation
--   *   <- n.items indirect/filter

-- case: a member of an exploded struct comes from the array
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select i.sku from (select explode(items) as i from n)
-- expect:
--   sku <- n.items direct/transformation
--   *   <- n.items indirect/filter

-- case: stack turns columns into rows
-- table: t(a, b, c, k)
select stack(2, a, b, c, k) as (x, y) from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.b direct/transformation
--   x <- t.c direct/transformation
--   x <- t.k direct/transformation
--   y <- t.a direct/transformation
--   y <- t.b direct/transformation
--   y <- t.c direct/transformation
--   y <- t.k direct/transformation
--   * <- t.a indirect/filter
--   * <- t.b indirect/filter
--   * <- t.c indirect/filter
--   * <- t.k indirect/filter

-- case: json_tuple
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select id, json_tuple(s, 'p', 'q') as (p, q) from n
-- expect:
--   id <- n.id direct/identity
--   p  <- n.s direct/transformation
--   q  <- n.s direct/transformation
--   *  <- n.s indirect/filter

-- case: a generator of an expression
-- table: t(a, b, c, k)
select explode(sequence(a, b)) as x from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.b direct/transformation
--   * <- t.a indirect/filter
--   * <- t.b indirect/filter

-- case: a table function joined with a table
-- table: t(a, b, c, k)
select t.a, r.col from t, lateral explode(array(t.b, t.c)) r
-- expect:
--   a   <- t.a direct/identity
--   col <- t.b direct/transformation
--   col <- t.c direct/transformation
--   *   <- t.b indirect/filter
--   *   <- t.c indirect/filter

-- case: explode_outer and inline_outer
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select explode_outer(l) as x from n
-- expect:
--   x <- n.l direct/transformation
--   * <- n.l indirect/filter

-- case: range as a table function is local data
select id from range(5)
-- expect:
--   id <- nothing
--   input: local data

-- case: values are local data
select col1 + 1 as x from values (1), (2)
-- expect:
--   x <- nothing
--   input: local data

-- case: a query without a table
select 1 as one
-- expect:
--   one <- nothing

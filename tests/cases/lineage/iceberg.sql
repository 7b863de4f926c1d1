-- Iceberg: reads and writes through a catalog, and UPDATE, DELETE and MERGE, which the analyzer rewrites.

-- case: a select and a CTAS
-- table: ice.db.t(id, v string, k) using iceberg
create table ice.db.x using iceberg as select id, upper(v) as u from ice.db.t where k > 1
-- expect:
--   id <- t.id direct/identity
--   u <- t.v direct/transformation
--   * <- t.k indirect/filter

-- case: merge with every kind of clause
-- table: ice.db.t(id, v string, k) using iceberg
-- table: ice.db.s(id, v string, k) using iceberg
merge into ice.db.t t using ice.db.s s on t.id = s.id
when matched and s.k > 3 then update set v = s.v
when matched and t.k = 9 then delete
when not matched then insert *
-- expect:
--   id <- s.id direct/identity
--   v <- s.v direct/identity
--   v <- s.k indirect/conditional
--   k <- s.k direct/identity
--   * <- t.id indirect/join
--   * <- s.id indirect/join
--   * <- t.k indirect/filter
--   * <- s.k indirect/filter

-- case: a later update clause depends on the conditions of the updates before it
-- table: ice.db.t(id, v string, k) using iceberg
-- table: ice.db.s(id, v string, k) using iceberg
merge into ice.db.t t using ice.db.s s on t.id = s.id
when matched and s.k > 3 then update set v = s.v
when matched then update set k = s.k
-- expect:
--   v <- s.v direct/identity
--   v <- s.k indirect/conditional
--   k <- s.k direct/identity
--   k <- s.k indirect/conditional
--   * <- t.id indirect/join
--   * <- s.id indirect/join

-- case: merge on read
-- table: ice.db.m(id, v string, k) using iceberg tblproperties ('write.merge.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read', 'format-version'='2')
-- table: ice.db.s(id, v string, k) using iceberg
merge into ice.db.m t using ice.db.s s on t.id = s.id
when matched and s.k > 3 then update set v = s.v
when not matched then insert *
-- expect:
--   id <- s.id direct/identity
--   v <- s.v direct/identity
--   v <- s.k indirect/conditional
--   k <- s.k direct/identity
--   * <- m.id indirect/join
--   * <- s.id indirect/join

-- case: a delete clause of a merge on read depends on the conditions before it
-- table: ice.db.m(id, v string, k) using iceberg tblproperties ('write.merge.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read', 'format-version'='2')
-- table: ice.db.s(id, v string, k) using iceberg
merge into ice.db.m t using ice.db.s s on t.id = s.id
when matched and s.k > 3 then update set v = s.v
when matched and t.k = 9 then delete
-- expect:
--   v <- s.v direct/identity
--   v <- s.k indirect/conditional
--   * <- m.id indirect/join
--   * <- s.id indirect/join
--   * <- m.k indirect/filter
--   * <- s.k indirect/filter

-- case: update sets its columns under its condition
-- table: ice.db.t(id, v string, k) using iceberg
update ice.db.t set v = upper(v) where k > 3
-- expect:
--   v <- t.v direct/transformation
--   v <- t.k indirect/conditional

-- case: update on read
-- table: ice.db.m(id, v string, k) using iceberg tblproperties ('write.merge.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read', 'format-version'='2')
update ice.db.m set v = upper(v) where k > 3
-- expect:
--   v <- m.v direct/transformation
--   v <- m.k indirect/conditional

-- case: delete filters by its condition
-- table: ice.db.t(id, v string, k) using iceberg
delete from ice.db.t where k + 1 = 3
-- expect:
--   * <- t.k indirect/filter

-- case: delete by a sub-query
-- table: ice.db.t(id, v string, k) using iceberg
-- table: ice.db.s(id, v string, k) using iceberg
delete from ice.db.t where k in (select k from ice.db.s where id > 1)
-- expect:
--   * <- t.k indirect/filter
--   * <- s.k indirect/filter
--   * <- s.id indirect/filter

-- case: a nullable column inserted into a NOT NULL column keeps identity
-- table: ice.db.strict(id int not null, v string) using iceberg
-- table: ice.db.t(id, v string, k) using iceberg
insert into ice.db.strict select id, v from ice.db.t
-- expect:
--   id <- t.id direct/identity
--   v <- t.v direct/identity
--   input: t
--   output: strict

-- case: delete of everything
-- table: ice.db.t(id, v string, k) using iceberg
delete from ice.db.t
-- expect:
--   output: t truncate

-- case: truncate
-- table: ice.db.t(id, v string, k) using iceberg
truncate table ice.db.t
-- expect:
--   output: t truncate

-- case: rename a table
-- table: ice.db.t(id, v string, k) using iceberg
alter table ice.db.t rename to ice.db.renamed
-- expect:
--   output: t rename from t

-- case: update with a sub-query in its condition sets its columns only
-- table: ice.db.t(id, v string, k) using iceberg
-- table: t(a, b, c, k)
update ice.db.t set v = 'x', k = id where id in (select a from t where b > 1)
-- expect:
--   v <- t.id indirect/conditional
--   v <- t.a  indirect/conditional
--   v <- t.b  indirect/conditional
--   k <- t.id direct/identity
--   k <- t.id indirect/conditional
--   k <- t.a  indirect/conditional
--   k <- t.b  indirect/conditional

-- case: update of a column with its own value does not set it
-- table: ice.db.t(id, v string, k) using iceberg
update ice.db.t set v = v, k = id where id = 1
-- expect:
--   k <- t.id direct/identity
--   k <- t.id indirect/conditional

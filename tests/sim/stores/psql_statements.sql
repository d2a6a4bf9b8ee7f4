select * from catalog.products order by id
select id, price_units from catalog.products where price_units > 20 order by price_units desc limit 2
select categories, count(*), sum(price_units), avg(price_units) from catalog.products group by categories order by 1
select count(distinct categories) from catalog.products
select name from catalog.products where categories is null
select name from catalog.products where name like '%scope%' or name ilike 'lens%'
select p.name, r.username, r.score from catalog.products p join reviews.productreviews r on r.product_id = p.id order by r.score
select p.id, count(r.id) from catalog.products p left join reviews.productreviews r on r.product_id = p.id group by p.id order by p.id
select * from reviews.productreviews where username = 'it''s me'
select max(score), min(score), round(avg(score), 2) from reviews.productreviews
select 1 + 2 * 3, 7 / 2, 7.0 / 2, -7 % 3, 2 ^ 3
select 1 as one, 'x' as "Two", null, true, false
select case when 1 > 2 then 'a' else 'b' end, coalesce(null, 'c'), nullif(1, 1)
select 'a' || 'b', upper('x'), length('four'), substring('hello', 2, 3), replace('aba','a','c')
select 5 between 1 and 10, 3 in (1, 2), 'a' not in ('b', 'c'), not true
select '5'::int + 1, 5::text || 'x', 'true'::boolean, '1.50'::numeric
select * from (select id, price_units * 2 as twice from catalog.products) t where twice > 100 order by twice
select id from catalog.products where id in (select product_id from reviews.productreviews) order by id
select id from catalog.products p where exists (select 1 from reviews.productreviews r where r.product_id = p.id) order by 1
select (select count(*) from catalog.products)
values (1, 'a'), (2, 'b')
select generate_series from generate_series(1, 3)
select distinct categories from catalog.products order by categories
select * from catalog.products order by price_units offset 1 limit 1
select current_database(), current_user
select interval '90 minutes', '1 day 2 hours'::interval
select count(*) filter (where price_units > 50) from catalog.products
select string_agg(id, ',') from catalog.products where price_units < 200
select schemaname, tablename from pg_tables where schemaname = 'catalog'
select rolname, rolcanlogin from pg_roles where rolname in ('otelu', 'root') order by 1
select nothing from catalog.products
select p.nothing from catalog.products p
select q.id from catalog.products p
select * from nowhere
select * from catalog.nowhere
select * form catalog.products
select * from catalog.products where
select 1 +
select 'open
select count(id from catalog.products
selec 1
select id, count(*) from catalog.products
select nofunction(1)
select 1 / 0
select 'x'::int
select 1 + 'x'
select * from catalog.products where id = 5
select * from catalog.products where count(*) > 1
insert into catalog.products (id, name, price_units) values ('A', 'b', 1)
insert into catalog.products (id, name, price_units) values ('A', 'b', 1)
insert into catalog.products (id, name) values ('B', 'b')
insert into catalog.products (id, wrong) values ('B', 'b')
insert into catalog.products (id, name, price_units) values ('B', 'b', 1, 2)
insert into catalog.products (id, name, price_units) values ('B')
insert into catalog.products values ('C', 'c', 3) returning id, name
insert into accounting.shipping values ('s', 1, 'no-order')
insert into accounting."order" values ('o')
insert into accounting.shipping values ('s', 1, 'o')
select count(*) from accounting.shipping
delete from accounting."order" where order_id = 'o'
select count(*) from accounting.shipping
update catalog.products set price_units = price_units + 1 where id = 'A' returning price_units
update catalog.products set wrong = 1
update catalog.products set name = null where id = 'A'
delete from catalog.products where id in ('A', 'C')
delete from catalog.products where id = 'none'
create table t (a int primary key, b text default 'x')
create table t (a int)
create table if not exists t (a int)
insert into t (a) values (1), (2), (1)
insert into t (a) values (1), (2) on conflict do nothing
select * from t
insert into t (a) values (1)
insert into t (a) values ('z')
alter table t add column c int
alter table t drop column nope
alter table t rename to u
select * from u
truncate u
select * from u
drop table u
drop table u
drop table if exists u
drop table catalog.nope
create schema catalog
create schema nice
drop schema catalog
drop schema nice
create user otelu
create user someone with password 'p'
alter role nobodyy with password 'x'
alter role someone with nologin
grant select on catalog.products to nobodyy
grant select on catalog.nope to someone
grant flying on catalog.products to someone
grant select on catalog.products to someone
drop role someone
revoke select on catalog.products from someone
drop role someone
create database otel
show nothing
set nothing = 1
set max_connections = 5
set work_mem = '8MB'
show work_mem
show search_path
lock table catalog.products
commit
begin; select 1; commit
begin; select nothing; select 1
begin; lock table catalog.products in access share mode; rollback
select pg_terminate_backend(1)
select
;
create index on catalog.products (name)
create unique index idx on catalog.products (nope)
analyze
vacuum
explain select 1
\dt catalog.*
\dt
\dt nothing
\d catalog.products
\d accounting.shipping
\d nope
\dn
\x
\foo
\di reviews.*

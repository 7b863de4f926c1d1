create or replace procedure shop.refresh() language plpgsql as $$
begin
  delete from shop.history where customer_id is null;
  insert into shop.history (customer_id, total) select customer_id, total from shop.totals;
  execute format('drop table %I', 'x');
end;
$$;

insert into shop.log (message) select 'done' from shop.totals;
insert into shop.log (message) select broken from from;

-- reads a view of another file, which comes later in the alphabet
create view shop.totals as select * from shop.paid_orders;

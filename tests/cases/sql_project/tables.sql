create table shop.orders (
    id int primary key,
    customer_id int,
    amount decimal(10, 2),
    status varchar(20)
);
comment on table shop.orders is 'Orders as the shop writes them.';
comment on column shop.orders.amount is 'With tax.';

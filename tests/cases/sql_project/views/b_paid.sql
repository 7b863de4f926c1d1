create view shop.paid_orders as
select customer_id, sum(amount) as total from shop.orders where status = 'paid' group by customer_id;

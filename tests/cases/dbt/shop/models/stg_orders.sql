select id as order_id, user_id as customer_id, cast(order_date as date) as ordered_at, status, amount
from {{ ref('raw_orders') }}
where status <> 'test'

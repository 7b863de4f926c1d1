# Python functions that mask their input. Masking is read from their code, so a live session is needed.

# case: a UDF that hashes masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib


def token(s):
    return hashlib.sha256(s.encode()).hexdigest()


df = spark.table("n").select(F.udf(token, "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a UDF that calls a function which hashes masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hmac


def inner(s):
    return hmac.new(b"key", s.encode(), "sha256").hexdigest()


df = spark.table("n").select(F.udf(lambda s: inner(s) + "!", "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a UDF that reverses a string does not mask
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
df = spark.table("n").select(F.udf(lambda s: s[::-1], "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation

# case: a UDF with the masking decorator masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import colline


@F.udf("string")
@colline.masks
def hide(s):
    return "*"


df = spark.table("n").select(hide("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a pandas UDF that hashes masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib

import pandas


@F.pandas_udf("string")
def tokens(s: pandas.Series) -> pandas.Series:
    return s.map(lambda text: hashlib.md5(text.encode()).hexdigest())


df = spark.table("n").select(tokens("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

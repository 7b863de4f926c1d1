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

# case: a UDF that calls a helper of a module masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
from tests.capture import masking_helpers

df = spark.table("n").select(F.udf(lambda s: masking_helpers.mask(s) + "!", "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a UDF that is a method, a closure object or a partial masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
from functools import partial

from tests.capture.masking_helpers import Hasher, mask

hasher = Hasher("salt")
functions = {"method": hasher.mask, "object": Hasher("pepper"), "partial": partial(mask, salt="x")}
df = spark.table("n").select(*(F.udf(function, "string")("s").alias(name) for name, function in functions.items()))
# expect:
#   method <- n.s direct/transformation masked
#   object <- n.s direct/transformation masked
#   partial <- n.s direct/transformation masked

# case: a UDF with a hashing decorator masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
from tests.capture.masking_helpers import hashing


@F.udf("string")
@hashing
def upper(s):
    return s.upper()


df = spark.table("n").select(upper("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a UDF that takes the algorithm from a dict masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib

algorithms = {"md5": hashlib.md5, "sha1": hashlib.sha1}
token = F.udf(lambda s: algorithms["sha1"](s.encode()).hexdigest(), "string")
df = spark.table("n").select(token("s").alias("x"))
# expect:
#   x <- n.s direct/transformation masked

# case: a UDF that decrypts does not mask
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
from cryptography.fernet import Fernet

key = Fernet.generate_key()
df = spark.table("n").select(F.udf(lambda s: Fernet(key).decrypt(s).decode(), "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation

# case: a UDF that uses a hash as a cache key does not mask
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib

cache = {}


def remember(s):
    key = hashlib.sha256(s.encode()).hexdigest()
    if key not in cache:
        cache[key] = s.upper()
    return cache[key]


df = spark.table("n").select(F.udf(remember, "string")("s").alias("x"))
# expect:
#   x <- n.s direct/transformation

# case: a UDF that returns the raw value with its hash does not mask
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib

pair = F.udf(lambda s: (s, hashlib.md5(s.encode()).hexdigest()), "raw string, hash string")
df = spark.table("n").select(pair("s").alias("p")).select(F.col("p.raw").alias("x"))
# expect:
#   x <- n.s direct/transformation

# case: a table function that hashes masks
# since: 4.0
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib


class Tokens:
    def eval(self, s: str):
        for part in s.split(" "):
            yield (hashlib.sha1(part.encode()).hexdigest(),)


spark.udtf.register("tokens", F.udtf(Tokens, returnType="token string"))
df = spark.sql("select token as x from n, lateral tokens(s)")
# expect:
#   x <- n.s direct/transformation masked
#   * <- n.s indirect/filter masked

# case: pandas API on Spark: a function that hashes masks
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
import hashlib

import pyspark.pandas as ps


def token(s) -> str:
    return hashlib.sha256(str(s).encode()).hexdigest()


frame = spark.table("n").select("s").pandas_api()
frame["x"] = frame["s"].apply(token)
df = frame[["x"]].to_spark(index_col="i").drop("i")
# expect:
#   x <- n.s direct/transformation masked

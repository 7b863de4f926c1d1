"""What a call or an attribute of a value yields."""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from colline.capture.udf_code.abstract_values import (
    CLEAR,
    CONSTANT,
    MASKED,
    Arguments,
    BoundMethod,
    Choice,
    Container,
    Data,
    Hasher,
    Instance,
    Known,
    Level,
    LocalFunction,
    Partial,
    Special,
    Symbol,
    Tool,
    Value,
    combine,
    is_constant,
    join_values,
    level_of,
)
from colline.capture.udf_code.function_source import function_nodes
from colline.capture.udf_code.masking_libraries import (
    CIPHER_LIBRARIES,
    HASH_LIBRARIES,
    PURE_BUILTINS,
    call_of_library,
    call_of_tool,
    is_masking_library,
    module_of,
    name_of,
    top_level,
    vars_of,
)

MARK = "__colline_masks__"
_ABSENT = object()
_MAX_CONTENTS = 32
# methods that call a function with each value: `series.map(token)`
_APPLYING_METHODS = frozenset({"map", "apply", "transform", "applymap", "agg", "aggregate", "pipe"})
# attributes of classes with these types can be read; of their items, only functions are trusted
_FIXED_TYPES = (type, BuiltinFunctionType, functools.partial, dict, list, tuple)
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "__setstate__")

RunFunction = Callable[[Any, Arguments], Value]


class Calls:
    """Calls and attributes of abstract values. `run` reads the code of a Python function."""

    def __init__(self, run: RunFunction) -> None:
        self._run = run

    def call(self, function: Value, arguments: Arguments) -> Value:
        """What calling a value returns. Data cannot be called, so the result is unknown."""
        rule = _CALLS.get(type(function))
        return rule(self, function, arguments) if rule is not None else CLEAR

    def _call_special(self, _: Special, arguments: Arguments) -> Value:
        return arguments.positional[0] if arguments.positional else CLEAR

    def _call_choice(self, function: Choice, arguments: Arguments) -> Value:
        return join_values(self.call(each, arguments) for each in function.values)

    def _call_container(self, function: Container, arguments: Arguments) -> Value:
        """`{"md5": hashlib.md5}[name](v)`: one of the functions in a container."""
        functions = [part for part in function.parts if level_of(part) is not Level.CONSTANT]
        return join_values(self.call(each, arguments) for each in functions) if functions else CLEAR

    def _call_partial(self, function: Partial, arguments: Arguments) -> Value:
        before = function.arguments
        positional = (*before.positional, *arguments.positional)
        merged = Arguments(positional, {**before.named, **arguments.named}, (*before.extra, *arguments.extra))
        return self.call(function.function, merged)

    def _call_bound(self, function: BoundMethod, arguments: Arguments) -> Value:
        return self._run(function.function, _with_first(function.receiver, arguments))

    def _call_local(self, function: LocalFunction, arguments: Arguments) -> Value:
        return self._run(function, arguments)

    def _call_symbol(self, function: Symbol, arguments: Arguments) -> Value:
        module, _, name = function.path.rpartition(".")
        return call_of_library(module, name, arguments) or CLEAR

    def _call_instance(self, function: Instance, arguments: Arguments) -> Value:
        return self.call(self.attribute(function, "__call__"), arguments)

    def _call_known(self, function: Known, arguments: Arguments) -> Value:
        value = function.value
        if vars_of(value).get(MARK):
            return MASKED
        module, name = module_of(value), name_of(value)
        found = call_of_library(module, name, arguments) if name or is_masking_library(module) else None
        if found is not None:
            return found
        if isinstance(value, functools.partial):
            given = Arguments(tuple(map(Known, value.args)), {key: Known(each) for key, each in value.keywords.items()})
            return self.call(Partial(Known(value.func), given), arguments)
        rule = _KNOWN_CALLS.get(module)
        return rule(self, value, arguments) if rule is not None else self._call_object(value, arguments)

    def _call_functools(self, function: Any, arguments: Arguments) -> Value:
        """`partial(f, 1)` → f with an argument; `wraps(f)`, `lru_cache()` → a decorator that changes no result."""
        name, given = name_of(function), arguments.positional
        if isinstance(function, functools._lru_cache_wrapper):
            return self.call(Known(function.__wrapped__), arguments)
        if name == "partial" and given:
            return Partial(given[0], Arguments(given[1:], arguments.named, arguments.extra))
        if name in {"lru_cache", "cache", "update_wrapper"} and given and _is_function(given[0]):
            return given[0]
        return Special.UNCHANGED if name in {"wraps", "lru_cache"} else CLEAR

    def _call_object(self, function: Any, arguments: Arguments) -> Value:
        """A Python function or class, or an object with `__call__`."""
        if isinstance(function, FunctionType):
            return self._run(function, arguments)
        if isinstance(function, type):
            return self._create(function, arguments)
        if callable(function) and not isinstance(function, BuiltinFunctionType):
            return self.call(self.attribute(Known(function), "__call__"), arguments)
        return CLEAR

    def _call_builtin(self, function: Any, arguments: Arguments) -> Value:
        if isinstance(function, MethodType):
            return self._call_method_object(function, arguments)
        name, given = name_of(function), arguments.positional
        if name == "map" and len(given) > 1:
            return self.call(given[0], Arguments(tuple(Data(level_of(each)) for each in given[1:])))
        if name == "filter" and len(given) > 1:
            return Container(list(given[1:]))
        if name == "getattr" and len(given) > 1:
            return self._get_attribute_by_name(given[0], given[1])
        return Container(list(arguments.all)) if name in PURE_BUILTINS else CLEAR

    def _call_method_object(self, method: MethodType, arguments: Arguments) -> Value:
        owner = method.__self__
        if is_masking_library(module_of(owner)):
            return call_of_library(module_of(owner), method.__name__, arguments) or CLEAR
        return self.call(Known(method.__func__), _with_first(Known(owner), arguments))

    def _get_attribute_by_name(self, owner: Value, name: Value) -> Value:
        if isinstance(name, Known) and isinstance(name.value, str):
            return self.attribute(owner, name.value)
        is_hash = isinstance(owner, Known) and top_level(module_of(owner.value)) in HASH_LIBRARIES
        return Symbol("hashlib.new") if is_hash else CLEAR

    def _create(self, cls: type, arguments: Arguments) -> Value:
        """An object of a Python class, after its `__init__`."""
        if cls.__module__ == "builtins" or inspect.getattr_static(cls, "__new__") is not object.__dict__["__new__"]:
            return CLEAR
        created = Instance(cls)
        if dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__"):
            return _with_fields(created, arguments)
        initialize = inspect.getattr_static(cls, "__init__")
        if isinstance(initialize, FunctionType) and function_nodes(initialize.__code__):
            self._run(initialize, Arguments((created, *arguments.positional), arguments.named, arguments.extra))
            return created
        return created if initialize is object.__init__ else CLEAR

    def call_method(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """What a method of a value returns. A method with arguments can change a container."""
        if isinstance(receiver, Tool):
            return call_of_tool(receiver, name, arguments)
        if isinstance(receiver, Choice):
            return join_values(self.call_method(each, name, arguments) for each in receiver.values)
        is_text = isinstance(receiver, Known) and is_constant(receiver.value)
        if isinstance(receiver, Data | Container) or is_text:
            return self._call_method_of_data(receiver, name, arguments)
        if isinstance(receiver, Hasher):
            return MASKED
        return self.call(self.attribute(receiver, name), arguments)

    def _call_method_of_data(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        if name in _APPLYING_METHODS and arguments.positional and _is_function(arguments.positional[0]):
            item = Data(level_of(receiver))
            found = self.call(arguments.positional[0], Arguments((item, *arguments.positional[1:]), arguments.named))
            return Container([found]) if isinstance(found, Data) else found  # a Series can be changed later
        if isinstance(receiver, Container):
            receiver.add(arguments.all)
            return receiver
        return combine((receiver, *arguments.all))

    def attribute(self, owner: Value, name: str) -> Value:
        """The attribute of a value."""
        rule = _ATTRIBUTES.get(type(owner))
        if rule is not None:
            return rule(self, owner, name)
        return owner if isinstance(owner, Data | Container | Tool) else CLEAR

    def _hasher_attribute(self, _: Hasher, __: str) -> Value:
        return MASKED

    def _symbol_attribute(self, owner: Symbol, name: str) -> Value:
        return Symbol(f"{owner.path}.{name}")

    def _choice_attribute(self, owner: Choice, name: str) -> Value:
        return join_values(self.attribute(each, name) for each in owner.values)

    def _created_attribute(self, owner: Instance, name: str) -> Value:
        known = owner.attributes.get(name)
        return known if known is not None else self._class_attribute(owner.cls, name, owner)

    def _known_attribute(self, owner: Known, name: str) -> Value:
        value = owner.value
        if isinstance(value, ModuleType):
            return _module_attribute(value, name)
        if is_constant(value):
            return CONSTANT
        library = top_level(module_of(value))
        if library in HASH_LIBRARIES | CIPHER_LIBRARIES:
            return Symbol(f"{library}.{name}")
        if isinstance(value, type):
            return self._class_attribute(value, name, None)
        return self._instance_attribute(owner, name)

    def _instance_attribute(self, owner: Known, name: str) -> Value:
        """The attribute of an object that exists; clear if a method of its class can change it."""
        value = owner.value
        if name in vars_of(value) and not _is_changed_by_methods(type(value), name):
            return Known(vars_of(value)[name])
        found = inspect.getattr_static(type(value), name, _ABSENT)
        if isinstance(found, MemberDescriptorType) and not _is_changed_by_methods(type(value), name):
            return Known(found.__get__(value))
        return self._class_attribute(type(value), name, owner)

    def _class_attribute(self, cls: type, name: str, receiver: Value | None) -> Value:
        found = inspect.getattr_static(cls, name, _ABSENT)
        if isinstance(found, FunctionType):
            return Known(found) if receiver is None else BoundMethod(found, receiver)
        if isinstance(found, staticmethod):
            return Known(found.__func__)
        if isinstance(found, classmethod):
            return BoundMethod(found.__func__, Known(cls))
        if isinstance(found, property) and isinstance(found.fget, FunctionType) and receiver is not None:
            return self._run(found.fget, Arguments((receiver,)))
        is_fixed = is_constant(found) or isinstance(found, _FIXED_TYPES)
        return Known(found) if is_fixed and not _is_changed_by_methods(cls, name) else CLEAR


def _module_attribute(module: ModuleType, name: str) -> Value:
    if name in vars(module):
        return Known(vars(module)[name])
    return Symbol(f"{module.__name__}.{name}") if is_masking_library(module.__name__) else CLEAR


_CALLS: dict[type, Callable[[Calls, Any, Arguments], Value]] = {
    Special: Calls._call_special,
    Choice: Calls._call_choice,
    Container: Calls._call_container,
    Partial: Calls._call_partial,
    BoundMethod: Calls._call_bound,
    LocalFunction: Calls._call_local,
    Symbol: Calls._call_symbol,
    Instance: Calls._call_instance,
    Known: Calls._call_known,
}
# module of a function → how it is called
_KNOWN_CALLS: dict[str, Callable[[Calls, Any, Arguments], Value]] = {
    "functools": Calls._call_functools,
    "builtins": Calls._call_builtin,
}
_ATTRIBUTES: dict[type, Callable[[Calls, Any, str], Value]] = {
    Hasher: Calls._hasher_attribute,
    Symbol: Calls._symbol_attribute,
    Choice: Calls._choice_attribute,
    Instance: Calls._created_attribute,
    Known: Calls._known_attribute,
}


def item_of(container: Value, key: Value | None) -> Value:
    """`container[key]`, or any item if the key is unknown. A constant that a clear key selects reveals the key."""
    is_selected = key is not None and level_of(key) is Level.CLEAR
    if is_selected and level_of(container) is Level.CONSTANT:
        return CLEAR
    if isinstance(container, Choice):
        return join_values(item_of(each, key) for each in container.values)
    if isinstance(container, Hasher):
        return MASKED
    if isinstance(container, Container) and container.is_tuple and isinstance(key, Known):
        position = key.value if isinstance(key.value, int) else None
        if position is not None and -len(container.parts) <= position < len(container.parts):
            return container.parts[position]
    if not isinstance(container, Known):
        return container if isinstance(container, Data | Container) else CLEAR
    return _item_of_known(container.value, key)


def _item_of_known(container: Any, key: Value | None) -> Value:
    """An item of an object that exists. Data in it can change until the function runs, functions are trusted."""
    if is_constant(container):
        return CONSTANT
    if isinstance(key, Known) and type(container) is dict and isinstance(key.value, str | int):
        contents = [container[key.value]] if key.value in container else []
    elif type(container) in {dict, list, tuple} and len(container) <= _MAX_CONTENTS:
        contents = list(container.values() if type(container) is dict else container)
    else:
        contents = []
    return join_values(map(Known, contents)) if contents and all(map(callable, contents)) else CLEAR


def _with_fields(created: Instance, arguments: Arguments) -> Instance:
    """An object of a dataclass with the fields that it is created with."""
    names = [each.name for each in dataclasses.fields(created.cls) if each.init]
    given = {**dict(zip(names, arguments.positional, strict=False)), **arguments.named}
    created.attributes.update({name: given.get(name, CLEAR if arguments.extra else CONSTANT) for name in names})
    return created


def _with_first(value: Value, arguments: Arguments) -> Arguments:
    return Arguments((value, *arguments.positional), arguments.named, arguments.extra)


def _is_function(value: Value) -> bool:
    if isinstance(value, Known):
        return callable(value.value)
    return isinstance(value, LocalFunction | BoundMethod | Partial | Symbol | Choice | Instance)


def _is_changed_by_methods(cls: type, name: str) -> bool:
    """Whether a method of the class, other than its constructors, assigns the attribute."""
    return any(
        step.opname == "STORE_ATTR" and step.argval == name
        for method in _methods(cls)
        for step in dis.get_instructions(method)
    )


def _methods(cls: type) -> Iterator[FunctionType]:
    for base in cls.__mro__:
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType) and name not in _CONSTRUCTORS:
                yield function

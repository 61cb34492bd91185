import { PyFloat } from '../../json/value.ts';
import { type FormatArguments, formatFields } from '../text/format-method.ts';
import { TEXT_METHODS, UNSUPPORTED_TEXT_METHODS } from '../text/methods.ts';
import {
  DICT_METHODS,
  LIST_METHODS,
  numberAttribute,
  TUPLE_METHODS,
  UNSAFE_DICT_METHODS,
  UNSUPPORTED_NUMBER_ATTRIBUTES,
} from './container-methods.ts';
import { dictGet } from './dict.ts';
import { isBasic } from './iterate.ts';
import { invoke, type Native, variadic } from './native.ts';
import { Range } from './range.ts';
import { fail, unsupported } from './render-error.ts';
import { repr } from './repr.ts';
import {
  Builtin,
  type Dict,
  isDict,
  isList,
  type Keywords,
  Markup,
  PyObject,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './types.ts';

/** Names of the kind `__class__` that a dict has: for these the sandbox never looks at the keys. */
const DICT_INTERNALS: ReadonlySet<string> = new Set(
  (
    'class delattr dir doc eq format ge getattribute getstate gt hash init init_subclass le lt ne new reduce reduce_ex ' +
    'repr setattr sizeof str subclasshook class_getitem contains delitem getitem ior iter len or reversed ror setitem'
  )
    .split(' ')
    .map((name) => `__${name}__`),
);

const formatMethod: Native<string> = variadic<string>((text, args, keywords) =>
  formatFields(
    text,
    formatArguments(args, (name) => keywords.get(name)),
  ),
);

const formatMapMethod: Native<string> = variadic<string>((text, [mapping], keywords) => {
  if (keywords.size > 0) fail('format_map() takes no keyword arguments');
  if (mapping === undefined || !isDict(mapping)) return fail('format_map() takes exactly one mapping');
  return formatFields(
    text,
    formatArguments([], (name) => dictGet(mapping, name)),
  );
});

function formatArguments(
  args: readonly Value[],
  named: (name: string) => Value | undefined,
): FormatArguments {
  return { args, named, getAttribute, getItem };
}

const TEXT: ReadonlyMap<string, Native<string>> = new Map([
  ...TEXT_METHODS,
  ['format', formatMethod],
  ['format_map', formatMapMethod],
]);

function bound<Self>(native: Native<Self>, name: string, self: Self): Builtin {
  return new Builtin((args, keywords) => invoke(native, name, self, args, keywords));
}

/** getattr(object, name); undefined where Python raises an AttributeError. */
function ownAttribute(object: Value, name: string): Value | undefined {
  if (typeof object === 'string') {
    const method = TEXT.get(name);
    if (method !== undefined) return bound(method, name, object);
    return UNSUPPORTED_TEXT_METHODS.has(name) ? unsupported(`str.${name}`) : undefined;
  }
  if (isList(object)) return boundFrom(LIST_METHODS, name, object);
  if (object instanceof Tuple) return object.attribute(name) ?? boundFrom(TUPLE_METHODS, name, object.items);
  if (object instanceof Markup) return markupAttribute(object, name);
  if (object instanceof PyObject) return object.attribute(name);
  if (isDict(object))
    return name === 'fromkeys' ? unsupported('dict.fromkeys') : boundFrom(DICT_METHODS, name, object);
  if (object === null) return undefined;
  if (UNSUPPORTED_NUMBER_ATTRIBUTES.has(name)) return unsupported(`${typeName(object)}.${name}`);
  const attribute = numberAttribute(object, name);
  return isNative(attribute) ? bound(attribute, name, object) : attribute;
}

function boundFrom<Self>(
  methods: ReadonlyMap<string, Native<Self>>,
  name: string,
  self: Self,
): Builtin | undefined {
  const method = methods.get(name);
  return method === undefined ? undefined : bound(method, name, self);
}

function isNative<Self>(value: Value | Native<Self> | undefined): value is Native<Self> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'run');
}

const PLAIN_MARKUP_METHODS = new Set(
  'capitalize expandtabs lower lstrip rsplit rstrip split splitlines strip swapcase title upper zfill count endswith find index rfind rindex startswith'.split(
    ' ',
  ),
);

/** Methods of Markup: those of str that take no text which would be escaped. */
function markupAttribute({ text }: Markup, name: string): Value | undefined {
  const method = TEXT.get(name);
  if (method === undefined) return undefined;
  if (!PLAIN_MARKUP_METHODS.has(name) && !name.startsWith('is')) unsupported(`Markup.${name}`);
  return new Builtin((args, keywords) => asMarkup(invoke(method, name, text, args, keywords)));
}

function asMarkup(value: Value): Value {
  if (typeof value === 'string') return new Markup(value);
  return isList(value) ? value.map(asMarkup) : value;
}

/** The message is made only when it is asked for: `is defined` asks for attributes that are not there all the time. */
class Missing extends Undefined {
  readonly #object: Value;
  readonly #name: Value;

  constructor(object: Value, name: Value) {
    super('');
    this.#object = object;
    this.#name = name;
  }

  override get message(): string {
    const name = repr(this.#name);
    if (typeof this.#name !== 'string') return `${objectName(this.#object)} has no element ${name}`;
    return `'${objectName(this.#object)}' has no attribute ${name}`;
  }
}

function missing(object: Value, name: Value): Undefined {
  return new Missing(object, name);
}

function objectName(object: Value): string {
  return object === null ? 'None' : `${typeName(object)} object`;
}

/** object.name: an attribute, or else an item, of that name. */
export function getAttribute(object: Value, name: string): Value {
  if (isDict(object)) return dictAttribute(object, name);
  if (object instanceof Undefined) return fail(object.message);
  const value = ownAttribute(object, name);
  return value !== undefined ? value : missing(object, name);
}

/** The attribute alone, never an item: the filter `attr`. */
export function attributeOnly(object: Value, name: string): Value {
  if (object instanceof Undefined) return fail(object.message);
  if (isDict(object) && UNSAFE_DICT_METHODS.has(name)) return unsafe(object, name);
  const value = ownAttribute(object, name);
  return value !== undefined ? value : missing(object, name);
}

function dictAttribute(dict: Dict, name: string): Value {
  if (UNSAFE_DICT_METHODS.has(name) || DICT_INTERNALS.has(name)) return unsafe(dict, name);
  const value = ownAttribute(dict, name) ?? dictGet(dict, name);
  return value !== undefined ? value : missing(dict, name);
}

function unsafe(object: Value, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(object)}' object is unsafe.`);
}

/** object[key]: an item, or else an attribute, of that name. */
export function getItem(object: Value, key: Value): Value {
  const item = ownItem(object, key);
  if (item !== undefined) return item;
  const name = key instanceof Markup ? key.text : key;
  if (typeof name !== 'string') return missing(object, key);
  const value = ownAttribute(object, name);
  return value !== undefined ? value : missing(object, name);
}

function ownItem(object: Value, key: Value): Value | undefined {
  if (isDict(object)) {
    const hashable = !isList(key) && !isDict(key);
    return hashable ? dictGet(object, key) : undefined;
  }
  if (object instanceof Undefined) return fail(object.message);
  const index = typeof key === 'boolean' ? Number(key) : key;
  if (typeof index !== 'number' || !Number.isInteger(index)) return undefined;
  if (isList(object)) return object[index < 0 ? index + object.length : index];
  if (object instanceof Tuple) return object.items[index < 0 ? index + object.items.length : index];
  if (typeof object === 'string') return characterAt(object, index);
  if (object instanceof Markup) {
    const character = characterAt(object.text, index);
    return character === undefined ? undefined : new Markup(character);
  }
  if (object instanceof Range) {
    const place = index < 0 ? index + object.size : index;
    return place >= 0 && place < object.size ? object.at(place) : undefined;
  }
  return undefined;
}

function characterAt(text: string, index: number): string | undefined {
  const units = isBasic(text) ? text : Array.from(text);
  return units[index < 0 ? index + units.length : index];
}

export type CallMethod = (object: Value, args: readonly Value[], keywords: Keywords) => Value;

/** What calls the method `name`, without making the bound method where the type is str or dict. */
export function methodCaller(name: string): CallMethod {
  const textMethod = TEXT.get(name);
  const dictMethod = DICT_METHODS.get(name);
  return (object, args, keywords) => {
    if (textMethod !== undefined && typeof object === 'string') {
      return invoke(textMethod, name, object, args, keywords);
    }
    if (dictMethod !== undefined && isDict(object)) return invoke(dictMethod, name, object, args, keywords);
    return callValue(getAttribute(object, name), args, keywords);
  };
}

/** callee(*args, **keywords) */
export function callValue(callee: Value, args: readonly Value[], keywords: Keywords): Value {
  if (callee instanceof PyObject) {
    if (callee instanceof Undefined) fail(callee.message);
    const result = callee.call(args, keywords);
    if (result !== undefined) return result;
  }
  if (callee instanceof PyFloat || !(callee instanceof PyObject))
    return fail(`'${typeName(callee)}' object is not callable`);
  return fail(`'${callee.typeName}' object is not callable`);
}

/** Whether a dict treats `name` as a key only, and JavaScript gives no object a property of that name. */
export function isOrdinaryKey(name: string): boolean {
  return (
    !(name in Object.prototype) &&
    !DICT_METHODS.has(name) &&
    !UNSAFE_DICT_METHODS.has(name) &&
    !DICT_INTERNALS.has(name) &&
    name !== 'fromkeys'
  );
}

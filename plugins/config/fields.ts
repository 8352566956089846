/**
 * The kinds of values a variable can hold. Each builder gives a TypeBox schema of the parsed value;
 * `x-type` names the parser that makes that value out of the variable's text.
 */
import {
  type IntegerOptions,
  type NumberOptions,
  type SchemaOptions,
  type StringOptions,
  type TSchema,
  Type,
} from '@sinclair/typebox'

import { parseDuration } from '../../schemas/duration.ts'

/** What a variable's schema may carry beside JSON Schema's own words. */
export interface Metadata {
  /** Which parser reads the text (parsers.ts). */
  'x-type'?: string
  /** The heading in the reference. */
  'x-group'?: string
  /** Never shown in a message. */
  'x-secret'?: true
  /** Other documented names of the same variable. */
  'x-aliases'?: string[]
  /** Names of another server that are understood, with a notice. */
  'x-gotrue-names'?: string[]
  /** The default in words, where the value alone would not explain itself. */
  'x-default-text'?: string
  /** Other words for the words of a choice, in lower case. */
  'x-synonyms'?: Record<string, string>
  /** A value for .env.example. */
  'x-example'?: string
  /** Something waits for as long: a longer time than Node waits for is read as that. */
  'x-timer'?: true
  /** Accepted and ignored; says why. */
  'x-inert'?: string
  /** Still works, and says what to know before relying on it. */
  'x-deprecated'?: string
  /** Checked already, without effect until the feature exists. */
  'x-planned'?: true
  /** Other software sets this variable too: a value that is not ours is passed over. */
  'x-shared'?: true
}

export function text(description: string, options: StringOptions & Metadata = {}) {
  return Type.String({ 'x-type': 'text', ...options, description })
}

export function secret(description: string, options: StringOptions & Metadata = {}) {
  return Type.String({ 'x-type': 'text', 'x-secret': true, ...options, description })
}

/** An absolute http(s) address; kept without its trailing slash so that paths can be appended. */
export function url(description: string, options: StringOptions & Metadata = {}) {
  return Type.String({ 'x-type': 'url', ...options, description })
}

export function flag(description: string, on: boolean, options: SchemaOptions & Metadata = {}) {
  return Type.Boolean({ 'x-type': 'bool', default: on, ...options, description })
}

export function whole(description: string, options: IntegerOptions & Metadata = {}) {
  return Type.Integer({ 'x-type': 'whole', minimum: 0, ...options, description })
}

export function amount(description: string, options: NumberOptions & Metadata = {}) {
  return Type.Number({ 'x-type': 'number', minimum: 0, ...options, description })
}

type DurationOptions = Omit<NumberOptions, 'default'> & Metadata & { default?: string }

/** Seconds. The default is written as an operator would write it. */
export function duration(description: string, options: DurationOptions = {}) {
  const { default: preset, ...rest } = options
  const defaults =
    preset === undefined ? {} : { default: parseDuration(preset), 'x-default-text': preset }
  return Type.Number({ 'x-type': 'duration', minimum: 0, ...defaults, ...rest, description })
}

/** Comma-separated, trimmed, empty entries left out. */
export function list(description: string, options: SchemaOptions & Metadata = {}) {
  return Type.Array(Type.String(), { 'x-type': 'list', ...options, description })
}

/** One word of a few, in any case. */
export function choice<const W extends string>(
  description: string,
  words: readonly W[],
  options: SchemaOptions & Metadata = {},
) {
  return Type.Unsafe<W>({
    ...Type.String(),
    type: 'string',
    enum: words,
    'x-type': 'choice',
    ...options,
    description,
  })
}

/** Some words of a few, in any case, separated by commas. */
export function choices<const W extends string>(
  description: string,
  words: readonly W[],
  options: SchemaOptions & Metadata = {},
) {
  const word = Type.Unsafe<W>({ ...Type.String(), type: 'string', enum: words })
  return Type.Array(word, { 'x-type': 'choices', ...options, description })
}

/** The same variable for each of several names, such as one per mail kind. */
export function forEach<const N extends string, const K extends string, S extends TSchema>(
  names: readonly N[],
  nameOf: (name: N) => K,
  schemaOf: (name: N) => S,
): Record<K, S> {
  const entries = names.map((name) => [nameOf(name), schemaOf(name)] as const)
  return Object.fromEntries(entries) as Record<K, S>
}

/** Puts variables under one heading of the reference. */
export function group<P extends Record<string, TSchema>>(
  title: string,
  properties: P,
  metadata: Metadata = {},
): P {
  for (const schema of Object.values(properties)) {
    Object.assign(schema, metadata, { 'x-group': title })
  }
  return properties
}

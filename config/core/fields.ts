/**
 * The types of variables. Each builder returns a TypeBox schema of the parsed value; `x-type` names the parser that
 * converts the variable's text.
 */
import {
  type IntegerOptions,
  type NumberOptions,
  type SchemaOptions,
  type StringOptions,
  type TSchema,
  Type,
} from '@sinclair/typebox'

import { parseDuration } from '../../schemas/values/duration.ts'

/** Keywords of a variable's schema beyond JSON Schema. */
export interface VariableKeywords {
  /** The parser of the text (parsers.ts). */
  'x-type'?: string
  /** The heading in the reference. */
  'x-group'?: string
  /** Never shown in a message. */
  'x-secret'?: true
  /** Other documented names of the same variable. */
  'x-aliases'?: string[]
  /** GoTrue's names that are accepted with a notice. */
  'x-gotrue-names'?: string[]
  /** The default in words, where the value alone is not clear. */
  'x-default-text'?: string
  /** Alternative spellings of enum values, in lower case. */
  'x-synonyms'?: Record<string, string>
  /** A value for .env.example. */
  'x-example'?: string
  /** Used for a timer: longer than Node's maximum timeout is read as that maximum. */
  'x-timer'?: true
  /** Accepted and ignored; the text gives the reason. */
  'x-inert'?: string
  /** Deprecated but working; the text names the alternative. */
  'x-deprecated'?: string
  /** Validated, without effect until the feature exists. */
  'x-planned'?: true
  /** Other software sets this variable too: invalid values are ignored. */
  'x-shared'?: true
}

export function textField(description: string, options: StringOptions & VariableKeywords = {}) {
  return Type.String({ 'x-type': 'text', ...options, description })
}

export function secret(description: string, options: StringOptions & VariableKeywords = {}) {
  return Type.String({ 'x-type': 'text', 'x-secret': true, ...options, description })
}

/** An absolute http(s) URL; stored without its trailing slash so that paths can be appended. */
export function url(description: string, options: StringOptions & VariableKeywords = {}) {
  return Type.String({ 'x-type': 'url', ...options, description })
}

export function booleanField(
  description: string,
  on: boolean,
  options: SchemaOptions & VariableKeywords = {},
) {
  return Type.Boolean({ 'x-type': 'bool', default: on, ...options, description })
}

export function integerField(description: string, options: IntegerOptions & VariableKeywords = {}) {
  return Type.Integer({ 'x-type': 'whole', minimum: 0, ...options, description })
}

export function positiveIntegerField(
  description: string,
  options: NumberOptions & VariableKeywords = {},
) {
  return Type.Number({ 'x-type': 'number', minimum: 0, ...options, description })
}

type DurationOptions = Omit<NumberOptions, 'default'> & VariableKeywords & { default?: string }

/** Seconds. The default is written as in a variable. */
export function duration(description: string, options: DurationOptions = {}) {
  const { default: preset, ...rest } = options
  const defaults =
    preset === undefined ? {} : { default: parseDuration(preset), 'x-default-text': preset }
  return Type.Number({ 'x-type': 'duration', minimum: 0, ...defaults, ...rest, description })
}

/** Comma-separated, trimmed, without empty entries. */
export function listField(description: string, options: SchemaOptions & VariableKeywords = {}) {
  return Type.Array(Type.String(), { 'x-type': 'list', ...options, description })
}

/** Several values that are never shown. */
export function secretList(description: string, options: SchemaOptions & VariableKeywords = {}) {
  return listField(description, { 'x-secret': true, ...options })
}

/** One of several words, in any case. */
export function enumField<const W extends string>(
  description: string,
  words: readonly W[],
  options: SchemaOptions & VariableKeywords = {},
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

/** Several of these words, in any case, separated by commas. */
export function choicesField<const W extends string>(
  description: string,
  words: readonly W[],
  options: SchemaOptions & VariableKeywords = {},
) {
  const word = Type.Unsafe<W>({ ...Type.String(), type: 'string', enum: words })
  return Type.Array(word, { 'x-type': 'choices', ...options, description })
}

/** The same variable for each of several names, such as one per email kind. */
export function forEach<const N extends string, const K extends string, S extends TSchema>(
  names: readonly N[],
  toName: (name: N) => K,
  toSchema: (name: N) => S,
): Record<K, S> {
  const entries = names.map((name) => [toName(name), toSchema(name)] as const)
  return Object.fromEntries(entries) as Record<K, S>
}

/** Assigns variables to a section of the reference. */
export function group<P extends Record<string, TSchema>>(
  title: string,
  properties: P,
  metadata: VariableKeywords = {},
): P {
  for (const schema of Object.values(properties)) {
    Object.assign(schema, metadata, { 'x-group': title })
  }
  return properties
}

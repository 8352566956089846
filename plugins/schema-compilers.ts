/**
 * Requests are checked by Ajv, without coercion, and answers written by fast-json-stringify. Both are compiled once for a
 * schema, not once for every route that has it: the error body alone is the answer of them all. They are compiled when
 * they are first used: all of them together are a tenth of the time of a start.
 */
import AjvCompiler from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

import { isUuid } from '../schemas/fields.ts'
import { defineExtension } from './define-plugin.ts'

type Validator = ReturnType<FastifySchemaCompiler<unknown>>
type CheckedRoute = Parameters<FastifySchemaCompiler<unknown>>[0]

export const compileValidator: FastifySchemaCompiler<unknown> = AjvCompiler()(
  {},
  {
    customOptions: { coerceTypes: false, removeAdditional: false },
    // Ajv's own takes `urn:uuid:` in front as well (RFC 9562 §4), which Postgres does not.
    onCreate: (ajv) => ajv.addFormat('uuid', isUuid),
  },
)
const compileInOrder = SerializerSelector()()

type AnswerRoute = Omit<Parameters<typeof compileInOrder>[0], 'httpStatus' | 'schema'> & {
  schema: unknown
  httpStatus?: string
}

export function compileSerializer({ httpStatus = 'default', schema, ...route }: AnswerRoute) {
  return compileInOrder({ ...route, schema: inItsOrder(schema), httpStatus })
}

export const validatorCompiler = oncePerSchema((route: CheckedRoute) => {
  let compiled: Validator | undefined
  const validate: Validator = (value) => {
    compiled ??= compileValidator(route)
    const result = compiled(value)
    // Where Fastify looks for them.
    validate.errors = compiled.errors ?? null
    return result
  }
  return validate
})

export const serializerCompiler = oncePerSchema((route: AnswerRoute) => {
  let compiled: ReturnType<typeof compileSerializer> | undefined
  return (value: unknown): string => {
    compiled ??= compileSerializer(route)
    return compiled(value)
  }
})

/**
 * The serializer writes what is required before what is not. Only the first property stays required, so that an answer
 * has its fields in the order of its schema. It is enough to tell the bodies of an `anyOf` apart.
 */
function inItsOrder(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inItsOrder)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, inItsOrder(value)] as const)
  const copy: Record<string, unknown> = Object.fromEntries(entries)
  const { properties, required } = copy
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return copy
  const [first] = Object.keys(properties)
  return { ...copy, required: required.filter((name) => name === first) }
}

/** Schemas are constants of their modules, so what is compiled serves every server of the process. */
function oncePerSchema<Route extends { schema: unknown }, Compiled>(
  compile: (route: Route) => Compiled,
): (route: Route) => Compiled {
  const compiled = new WeakMap<object, Compiled>()
  return (route) => {
    const { schema } = route
    if (typeof schema !== 'object' || schema === null) return compile(route)
    const known = compiled.get(schema)
    if (known !== undefined) return known
    const made = compile(route)
    compiled.set(schema, made)
    return made
  }
}

export default defineExtension({
  name: 'schema-compilers',
  needs: ['setValidatorCompiler', 'setSerializerCompiler'],
  install(house) {
    house.setValidatorCompiler(validatorCompiler)
    house.setSerializerCompiler(serializerCompiler)
  },
})

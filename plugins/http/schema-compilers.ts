/**
 * Requests are validated by Ajv without coercion, and responses are serialized by fast-json-stringify. Each schema is
 * compiled once, not once per route, because all routes share schemas such as the error body; and at its first use,
 * because compiling all of them takes a tenth of the start-up time.
 */
import AjvCompiler from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

import { isUuid } from '../../schemas/fields.ts'
import { defineHooksPlugin } from '../define-plugin.ts'

type Validator = ReturnType<FastifySchemaCompiler<unknown>>
type CheckedRoute = Parameters<FastifySchemaCompiler<unknown>>[0]

export const compileValidator: FastifySchemaCompiler<unknown> = AjvCompiler()(
  {},
  {
    customOptions: { coerceTypes: false, removeAdditional: false },
    // Ajv's own format also accepts a `urn:uuid:` prefix (RFC 9562 §4), which Postgres does not.
    onCreate: (ajv) => ajv.addFormat('uuid', isUuid).addVocabulary(['x-required', 'x-enum']),
  },
)
const compileInOrder = SerializerSelector()()

type ResponseRoute = Omit<Parameters<typeof compileInOrder>[0], 'httpStatus' | 'schema'> & {
  schema: unknown
  httpStatus?: string
}

export function compileSerializer({ httpStatus = 'default', schema, ...route }: ResponseRoute) {
  return compileInOrder({ ...route, schema: reorderProperties(schema), httpStatus })
}

export const validatorCompiler = oncePerSchema((route: CheckedRoute) => {
  let compiled: Validator | undefined
  const validate: Validator = (value) => {
    compiled ??= compileValidator(route)
    const result = compiled(value)
    // Fastify reads the errors here.
    validate.errors = compiled.errors ?? null
    return result
  }
  return validate
})

export const serializerCompiler = oncePerSchema((route: ResponseRoute) => {
  let compiled: ReturnType<typeof compileSerializer> | undefined
  return (value: unknown): string => {
    compiled ??= compileSerializer(route)
    return compiled(value)
  }
})

/**
 * The serializer writes required properties first. Only the first property stays required, so that responses keep the
 * order of their schema; that is enough to distinguish the bodies of an `anyOf`.
 */
function reorderProperties(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(reorderProperties)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(
    ([key, value]) => [key, reorderProperties(value)] as const,
  )
  const copy: Record<string, unknown> = Object.fromEntries(entries)
  const { properties, required } = copy
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return copy
  const [first] = Object.keys(properties)
  return { ...copy, required: required.filter((name) => name === first) }
}

/** Schemas are module constants, so all servers of a process share the compiled functions. */
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

export default defineHooksPlugin({
  name: 'schema-compilers',
  deps: ['setValidatorCompiler', 'setSerializerCompiler'],
  install(deps) {
    deps.setValidatorCompiler(validatorCompiler)
    deps.setSerializerCompiler(serializerCompiler)
  },
})

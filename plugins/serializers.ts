/**
 * Serializers are compiled once for a schema, not once for every route that answers with it: the error body alone is
 * the answer of them all.
 */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

type Compile = ReturnType<ReturnType<typeof SerializerSelector>>
type Route = Omit<Parameters<Compile>[0], 'httpStatus'> & { httpStatus?: string }
type Serializer = ReturnType<Compile>

// Schemas are constants of their modules, so what is compiled serves every server of the process.
const compiled = new WeakMap<object, Serializer>()

export function createSerializerCompiler(): (route: Route) => Serializer {
  const compile = SerializerSelector()()
  return ({ httpStatus = 'default', ...route }) => {
    const { schema } = route
    const known = isObject(schema) ? compiled.get(schema) : undefined
    const serializer = known ?? compile({ ...route, httpStatus })
    if (isObject(schema)) compiled.set(schema, serializer)
    return serializer
  }
}

function isObject(schema: unknown): schema is object {
  return typeof schema === 'object' && schema !== null
}

async function serializers(fastify: FastifyInstance) {
  fastify.setSerializerCompiler(createSerializerCompiler())
}

export default fp(serializers, { name: 'serializers', fastify: '5.x' })

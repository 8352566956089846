/** Requests are checked by Ajv, without coercion; a validator is compiled once for a schema. */
import AjvCompiler from '@fastify/ajv-compiler'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import fp from 'fastify-plugin'

type Validator = ReturnType<FastifySchemaCompiler<object>>

// Schemas are constants of their modules, so what is compiled serves every server of the process.
const compiled = new WeakMap<object, Validator>()

const compile = AjvCompiler()(
  {},
  { customOptions: { coerceTypes: false, removeAdditional: false } },
)

export const validatorCompiler: FastifySchemaCompiler<object> = (route) => {
  const { schema } = route
  const known = compiled.get(schema)
  if (known) return known
  const validator = compile(route)
  compiled.set(schema, validator)
  return validator
}

async function validators(fastify: FastifyInstance) {
  fastify.setValidatorCompiler(validatorCompiler)
}

export default fp(validators, { name: 'validators', fastify: '5.x' })

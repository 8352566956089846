/**
 * Bodies are JSON whatever the Content-Type says; keys match without case, a null field counts as absent,
 * and forms are understood (RFC 6749 clients and Apple's form_post send them).
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { badJson } from '../errors.ts'

type Json = Record<string, unknown>

export function parseBody(contentType: string | undefined, text: string): unknown {
  if (text.trim() === '') throw badJson('the body is empty; send one JSON object')
  const isForm = contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded')
  if (isForm && !text.trimStart().startsWith('{'))
    return Object.fromEntries(new URLSearchParams(text))
  try {
    return normalize(JSON.parse(text))
  } catch {
    throw badJson('the body is not one valid JSON object')
  }
}

function normalize(value: unknown): unknown {
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const entries = Object.entries(value).filter(([, field]) => field !== null)
  const result: Json = {}
  for (const [key, field] of entries) {
    // A key that already is in lower case wins over another spelling of it.
    const name = key.toLowerCase()
    if (name === key || !(name in value)) define(result, name, field)
  }
  return result
}

/** `__proto__` in a body must stay a harmless own field. */
function define(target: Json, key: string, value: unknown) {
  Object.defineProperty(target, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

async function bodyParser(fastify: FastifyInstance) {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    try {
      done(null, parseBody(request.headers['content-type'], body.toString()))
    } catch (error) {
      done(error instanceof Error ? error : badJson('unreadable'))
    }
  })
}

export default fp(bodyParser, { name: 'body-parser', fastify: '5.x' })

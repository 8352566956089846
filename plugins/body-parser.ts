/**
 * Bodies are JSON whatever the Content-Type says; keys match without case, a null field counts as absent,
 * and forms are understood (RFC 6749 clients and Apple's form_post send them).
 */
import { badJson } from '../errors.ts'
import { isStorable } from './body-parser/storable.ts'
import { defineExtension } from './define-plugin.ts'

type Json = Record<string, unknown>

/** Undefined for an empty body. Throws bad_json. */
export function parseBody(contentType: string | undefined, text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const isForm = contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded')
  const body =
    isForm && !trimmed.startsWith('{')
      ? Object.fromEntries(new URLSearchParams(text))
      : normalize(parseJson(text))
  if (!isStorable(body)) {
    throw badJson('texts have to be Unicode without NUL, and lists and objects not nested deeply')
  }
  return body
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
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
    if (name === key || !Object.hasOwn(value, name)) define(result, name, field)
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

/** True for a union with null, which stands for a body that may be left out. */
function allowsNone(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || !('anyOf' in schema)) return false
  const variants: unknown = schema.anyOf
  return Array.isArray(variants) && variants.some(({ type }) => type === 'null')
}

export default defineExtension({
  name: 'body-parser',
  needs: ['addHook', 'removeAllContentTypeParsers', 'addContentTypeParser'],
  install(house) {
    // Fastify refuses what is no media type, such as the `application/json, application/json` of a header set twice.
    house.addHook('onRequest', (request, _reply, done) => {
      const { headers } = request
      if (headers['content-type'] !== undefined && request.mediaType === undefined) {
        delete headers['content-type']
      }
      done()
    })
    house.removeAllContentTypeParsers()
    house.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
      // A route without a body schema ignores the body, so an unreadable one is no error there.
      const schema = request.routeOptions.schema?.body
      if (!schema) return done(null, undefined)
      try {
        const body = parseBody(request.headers['content-type'], text.toString())
        if (body === undefined && !allowsNone(schema)) {
          throw badJson('the body is empty; send one JSON object')
        }
        done(null, body)
      } catch (error) {
        done(error instanceof Error ? error : badJson('unreadable'))
      }
    })
  },
})

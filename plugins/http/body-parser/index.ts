/**
 * Bodies are parsed as JSON whatever the Content-Type, with case-insensitive keys and null treated as absent. Forms are
 * accepted, because RFC 6749 clients and Apple's form_post send them.
 */
import { badJson } from '../../../schemas/errors.ts'
import { bodyLimit, maxFormFields, maxValuesOfAdmins } from '../../../schemas/values/body-limits.ts'
import { defineHooksPlugin } from '../../define-plugin.ts'
import { isPostgresValue } from './storable.ts'

type Json = Record<string, unknown>

/** Undefined for an empty body. Throws bad_json. */
function parseBody(contentType: string | undefined, text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const isForm = contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded')
  const body = isForm && !trimmed.startsWith('{') ? parseForm(text) : normalize(parseJson(text))
  if (!isPostgresValue(body)) {
    throw badJson(
      'strings must be Unicode without NUL, numbers must fit a double, and nesting must not be deep',
    )
  }
  return body
}

/** The last value of a field counts, except that several resources may be sent (RFC 8707 §2). */
function parseForm(text: string): Json {
  if (hasMoreFields(text, maxFormFields)) {
    throw badJson(`a form has at most ${maxFormFields} fields`)
  }
  const sent = new URLSearchParams(text)
  const resources = sent.getAll('resource')
  return { ...Object.fromEntries(sent), ...(resources.length > 1 && { resource: resources }) }
}

/** Stops counting at the limit, without building a list. */
function hasMoreFields(text: string, limit: number): boolean {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0 && count <= limit; at = text.indexOf('&', at + 1)) {
    count += 1
  }
  return count > limit
}

/** Throws bad_json. */
function parseJson(text: string): unknown {
  if (text.length > bodyLimit && hasMoreValues(text, maxValuesOfAdmins)) {
    throw badJson(`a body above ${bodyLimit} bytes has at most ${maxValuesOfAdmins} values`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw badJson('the body is not one valid JSON object')
  }
}

/** Counts the commas and brackets outside of strings, up to the limit. */
function hasMoreValues(text: string, limit: number): boolean {
  let [count, isString] = [0, false]
  for (let at = 0; at < text.length && count <= limit; at += 1) {
    const character = text[at]
    if (character === '"') isString = !isString
    else if (isString && character === '\\') at += 1
    else if (!isString && (character === ',' || character === '[' || character === '{')) count += 1
  }
  return count > limit
}

function normalize(value: unknown): unknown {
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const entries = Object.entries(value).filter(([, field]) => field !== null)
  const result: Json = {}
  for (const [key, field] of entries) {
    // An exact lower-case key takes precedence over other spellings.
    const name = key.toLowerCase()
    if (name === key || !Object.hasOwn(value, name)) define(result, name, field)
  }
  return result
}

/** Defined as an own property, so that `__proto__` in a body does not change the prototype. */
function define(target: Json, key: string, value: unknown) {
  Object.defineProperty(target, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

/** True for a union with null, which marks an optional body. */
function allowsNone(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || !('anyOf' in schema)) return false
  const variants: unknown = schema.anyOf
  return Array.isArray(variants) && variants.some(({ type }) => type === 'null')
}

export default defineHooksPlugin({
  name: 'body-parser',
  deps: ['addHook', 'removeAllContentTypeParsers', 'addContentTypeParser'],
  install(deps) {
    // Fastify rejects invalid media types, such as the `application/json, application/json` of a header set twice.
    deps.addHook('onRequest', (request, _reply, done) => {
      const { headers } = request
      if (headers['content-type'] !== undefined && request.mediaType === undefined) {
        delete headers['content-type']
      }
      done()
    })
    deps.removeAllContentTypeParsers()
    deps.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
      // A route without a body schema ignores the body, so an unparsable one is no error there.
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

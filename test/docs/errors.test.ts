/** docs/errors.md explains exactly the error codes of the catalogue (schemas/errors.ts). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'

import { openapiText } from '../../cli/openapi.ts'
import { errorCodes } from '../../schemas/values/error-codes.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

suite('error codes', () => {
  let text: string

  before(async () => {
    text = await openapiText()
  })

  test('have a section in docs/errors.md each, with a text', () => {
    const sections = [...read('docs/errors.md').matchAll(/^### ([a-z0-9_]+)\n\n(\S.{20,})$/gm)]
    assert.deepEqual(sections.map(([, code]) => code).toSorted(), errorCodes.toSorted())
  })

  test('are listed in the OpenAPI document', () => {
    const { components } = JSON.parse(text)
    assert.deepEqual(components.schemas.ErrorCode['x-extensible-enum'], errorCodes)
    assert.equal(
      components.schemas.Error.properties.error_code.$ref,
      '#/components/schemas/ErrorCode',
    )
  })

  test('are all in use', () => {
    const source = read('schemas/errors.ts') + read('plugins/http/instance.ts')
    // These are composed of a factor type and an action.
    const composed = /^mfa_(totp|phone|webauthn|recovery_codes)_(enroll|verify)_not_enabled$/
    const unused = errorCodes.filter(
      (code) => !composed.test(code) && !source.includes(`'${code}'`),
    )
    assert.deepEqual(unused, [])
  })
})

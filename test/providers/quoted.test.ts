/** Which parts of a provider's message are logged. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { quoted } from '../../providers/http/quoted.ts'

const rows: Record<string, [text: string, expected: string, sent?: string[]]> = {
  'an error with its description': [
    '{"error":"invalid_grant",\n "error_description":"Bad Request"}',
    '{"error":"invalid_grant", "error_description":"Bad Request"}',
  ],
  'a sent value': ['no such code: abc', 'no such code: […]', ['abc']],
  'a form-encoded sent value': ['secret a%2Fb%3D is old', 'secret […] is old', ['a/b=']],
  'tokens by field name': [
    '{"access_token":"short","id_token": "e.f.g","token_type":"bearer","x":1}',
    '{"access_token":"[…]","id_token": "[…]","token_type":"bearer","x":1}',
  ],
  'a form with a secret': ['client_secret=s3cr3t&error=x', 'client_secret=[…]&error=x'],
  'a key': ['key AIzaSyD9tSrke72PouQMnMX8a7 is wrong', 'key […] is wrong'],
  'an email': ['<ann.lee+x@ex.test> is unknown', '<[…]> is unknown'],
  'a phone number': ['call 15550100', 'call […]'],
  'text without secrets': [
    'The redirect_uri MUST match the registered callback URL for this application.',
    'The redirect_uri MUST match the registered callback URL for this application.',
  ],
}

suite('quoted provider messages', () => {
  for (const [title, [text, expected, sent]] of Object.entries(rows)) {
    test(`${text === expected ? 'keep' : 'redact'} ${title}`, () =>
      assert.equal(quoted(text, sent), expected))
  }

  test('are truncated to 500 characters', () => {
    assert.equal(quoted('a '.repeat(1_000_000)).length, 500)
    assert.equal(quoted('1'.repeat(1_000_000)), '[…]')
  })
})

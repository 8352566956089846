/** What of a provider's words may be logged. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { quoted } from '../../providers/said.ts'

const rows: Record<string, [text: string, expected: string, sent?: string[]]> = {
  'an error with its description': [
    '{"error":"invalid_grant",\n "error_description":"Bad Request"}',
    '{"error":"invalid_grant", "error_description":"Bad Request"}',
  ],
  'what was sent': ['no such code: abc', 'no such code: […]', ['abc']],
  'what was sent, as a form has it': ['secret a%2Fb%3D is old', 'secret […] is old', ['a/b=']],
  'tokens by the names of their fields': [
    '{"access_token":"short","id_token": "e.f.g","token_type":"bearer","x":1}',
    '{"access_token":"[…]","id_token": "[…]","token_type":"bearer","x":1}',
  ],
  'a form with a secret': ['client_secret=s3cr3t&error=x', 'client_secret=[…]&error=x'],
  'what looks like a key': ['key AIzaSyD9tSrke72PouQMnMX8a7 is wrong', 'key […] is wrong'],
  'an address of a person': ['<ann.lee+x@ex.test> is unknown', '<[…]> is unknown'],
  'a number of a person': ['call 15550100', 'call […]'],
  'a sentence without any': [
    'The redirect_uri MUST match the registered callback URL for this application.',
    'The redirect_uri MUST match the registered callback URL for this application.',
  ],
}

suite('the words of a provider', () => {
  for (const [title, [text, expected, sent]] of Object.entries(rows)) {
    test(title, () => assert.equal(quoted(text, sent), expected))
  }

  test('are cut to 500 characters, however many come', () => {
    assert.equal(quoted('a '.repeat(1_000_000)).length, 500)
    assert.equal(quoted('1'.repeat(1_000_000)), '[…]')
  })
})

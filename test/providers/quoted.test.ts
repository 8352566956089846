/** Which parts of a provider's message are logged. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { quoted } from '../../providers/http/quoted.ts'

const rows: Record<string, [text: string, expected: string, sent?: string[]]> = {
  'contain an error with its description in one line': [
    '{"error":"invalid_grant",\n "error_description":"Bad Request"}',
    '{"error":"invalid_grant", "error_description":"Bad Request"}',
  ],
  'contain no sent value': ['no such code: abc', 'no such code: […]', ['abc']],
  'contain no form-encoded sent value': ['secret a%2Fb%3D is old', 'secret […] is old', ['a/b=']],
  'contain no token fields': [
    '{"access_token":"short","id_token": "e.f.g","token_type":"bearer","x":1}',
    '{"access_token":"[…]","id_token": "[…]","token_type":"bearer","x":1}',
  ],
  'contain no secret of a form': ['client_secret=s3cr3t&error=x', 'client_secret=[…]&error=x'],
  'contain no key': ['key AIzaSyD9tSrke72PouQMnMX8a7 is wrong', 'key […] is wrong'],
  'contain no email': ['<ann.lee+x@ex.test> is unknown', '<[…]> is unknown'],
  'contain no phone number': ['call 15550100', 'call […]'],
  'contain text without secrets unchanged': [
    'The redirect_uri MUST match the registered callback URL for this application.',
    'The redirect_uri MUST match the registered callback URL for this application.',
  ],
}

suite('quoted provider messages', () => {
  for (const [title, [text, expected, sent]] of Object.entries(rows)) {
    test(title, () => assert.equal(quoted(text, sent), expected))
  }

  test('are truncated to 500 characters', () => {
    assert.equal(quoted('a '.repeat(1_000_000)).length, 500)
    assert.equal(quoted('1'.repeat(1_000_000)), '[…]')
  })
})

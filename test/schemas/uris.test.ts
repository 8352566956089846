import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { isSameUri } from '../../schemas/values/uris.ts'

/** RFC 3986 §6.2.2 and §6.2.3. */
const same: [string, string][] = [
  ['https://mcp.example.com', 'https://mcp.example.com/'],
  ['https://mcp.example.com', 'HTTPS://MCP.Example.com:443'],
  ['https://mcp.example.com/a', 'https://mcp.example.com/b/../%61'],
  ['https://mcp.example.com/~me/%c3%a9', 'https://mcp.example.com/%7Eme/%C3%A9'],
  ['https://mcp.example.com?x=1', 'https://mcp.example.com/?x=1'],
  ['http://mcp.example.com:80/a', 'http://mcp.example.com/a'],
  ['https://mcp.example.com:/a', 'https://mcp.example.com/a'],
  ['api://My-App', 'API://my-app/'],
  ['urn:example:api', 'URN:example:api'],
]

const different: [string, string][] = [
  ['https://mcp.example.com/mcp', 'https://mcp.example.com/mcp/'],
  ['https://mcp.example.com', 'http://mcp.example.com'],
  ['https://mcp.example.com', 'https://mcp.example.com:8443'],
  ['https://mcp.example.com/A', 'https://mcp.example.com/a'],
  ['https://mcp.example.com/a%2Fb', 'https://mcp.example.com/a/b'],
  ['https://mcp.example.com/', 'https://mcp.example.com/?'],
  ['https://mcp.example.com', 'https://mcp.example.com@evil.example'],
  ['https://mcp.example.com', 'https:\\\\mcp.example.com'],
  ['https://mcp.example.com', ' https://mcp.example.com'],
  ['https://mcp.example.com', 'https://mcp.example.com.'],
  ['authenticated', 'Authenticated'],
]

suite('URIs', () => {
  for (const [one, other] of same) {
    test(`${one} is ${other}`, () => assert.ok(isSameUri(one, other) && isSameUri(other, one)))
  }
  for (const [one, other] of different) {
    test(`${one} is not ${JSON.stringify(other)}`, () =>
      assert.ok(!isSameUri(one, other) && !isSameUri(other, one)))
  }
})

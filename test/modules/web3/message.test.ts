/** The grammar of wallet messages; malformed input causes an ApiError only. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import fc from 'fast-check'

import { parseMessage } from '../../../modules/web3/message.ts'
import { decodeBase58 } from '../../../modules/web3/verify.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { buildMessage, ethereumWallet, solanaWallet } from '../../support/web3/wallets.ts'

const inputs = 100_000

suite('parseMessage', () => {
  test('reads every field of a message', () => {
    const message = parseMessage(
      'ethereum',
      [
        'login.app.example:8443 wants you to sign in with your Ethereum account:',
        '0x00000000000000000000000000000000000000aB',
        '',
        'Colons: are allowed in a statement.',
        '',
        'URI: https://login.app.example:8443/in',
        'Version: 1',
        'Unknown: ignored',
        '',
        'Chain ID: 1',
        'Chain ID: 10',
        'Issued At: 2026-02-03T04:05:06.789+01:00',
        'Not Before: 2026-02-03T03:00:00Z',
        'Resources:',
        '- https://app.example/terms',
        '- ipfs://bafy',
        'Expiration Time: 2026-02-03T05:00:00Z',
      ].join('\n'),
    )
    assert.deepEqual(message, {
      scheme: undefined,
      domain: 'login.app.example:8443',
      address: '0x00000000000000000000000000000000000000aB',
      statement: 'Colons: are allowed in a statement.',
      uri: new URL('https://login.app.example:8443/in'),
      chainId: '10',
      issuedAt: new Date('2026-02-03T03:05:06.789Z'),
      notBefore: new Date('2026-02-03T03:00:00Z'),
      expirationTime: new Date('2026-02-03T05:00:00Z'),
    })
  })

  test('reads the optional scheme apart from the domain', () => {
    const message = buildMessage(ethereumWallet(), { domain: 'https://app.example:8443' })
    const { scheme, domain } = parseMessage('ethereum', message)
    assert.deepEqual([scheme, domain], ['https', 'app.example:8443'])
  })

  test('accepts localhost with a port as domain', () => {
    const message = buildMessage(solanaWallet(), { domain: 'localhost:3000' })
    assert.equal(parseMessage('solana', message).domain, 'localhost:3000')
  })

  test(`throws only ApiErrors for ${inputs} mutated and random texts`, () => {
    const templates = [ethereumWallet(), solanaWallet()].map((wallet) => buildMessage(wallet))
    const line = fc.oneof(
      fc.constantFrom(...templates.flatMap((template) => template.split('\n'))),
      fc.constantFrom(
        'Resources:',
        'Resources',
        '- x',
        ':',
        'URI:',
        'Issued At: 0',
        'Chain ID: ',
        '',
      ),
      fc.string({ unit: 'binary', maxLength: 60 }),
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.array(line, { maxLength: 16 }).map((lines) => lines.join('\n')),
      changed(templates),
    )
    let accepted = 0
    const chain = fc.constantFrom('ethereum' as const, 'solana' as const)
    const property = fc.property(chain, text, (name, message) => {
      try {
        parseMessage(name, message)
        accepted += 1
      } catch (error) {
        assert.ok(error instanceof ApiError, String(error))
        assert.deepEqual([error.status, error.errorCode], [400, 'validation_failed'])
      }
    })
    fc.assert(property, { numRuns: inputs })
    // Otherwise the texts would have tried the first line alone.
    assert.ok(accepted > inputs / 1000, `${accepted}`)
  })
})

/** A valid message with one replaced part. */
function changed(templates: string[]): fc.Arbitrary<string> {
  const parts = fc.tuple(
    fc.constantFrom(...templates),
    fc.nat(500),
    fc.nat(8),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )
  return parts.map(([template, at, length, inserted]) => {
    const start = at % template.length
    return template.slice(0, start) + inserted + template.slice(start + length)
  })
}

suite('decodeBase58', () => {
  test('decodes what bs58 encodes', async () => {
    const { default: bs58 } = await import('bs58')
    const property = fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      assert.deepEqual(decodeBase58(bs58.encode(bytes)), Buffer.from(bytes))
    })
    fc.assert(property)
  })

  test('returns undefined for other characters', () => {
    assert.equal(decodeBase58('0OIl'), undefined)
  })
})

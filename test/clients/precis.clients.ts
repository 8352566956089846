/** The profile for usernames against golang.org/x/text/secure/precis: every character, and random names. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { enforceUsername } from '../../modules/usernames/precis.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { installs, missing } from './script.ts'

interface Answer {
  known: boolean
  enforced: string | null
}

const randomNames = 50_000
const unpaired = /[\ud800-\udfff]/u
/** The package applies the bidi rule to every name that is not ASCII; RFC 8265 to names with such a character. */
const rightToLeft =
  /(?![\p{Mn}\u06f0-\u06f9])[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
/** Rejected here everywhere. */
const joiners = /[\u200c\u200d]/

suite('UsernameCaseMapped', { skip: missing('go', 'version') }, () => {
  test('agrees with the Go package on every character and on random names', async (t) => {
    const oracle = buildOracle(t)
    if (!oracle) return
    const names = [...everyCharacter(), ...drawNames(randomNames)].map(framed)
    const answers = askOracle(oracle, names)
    const compared = names.flatMap((name, at) => {
      const answer = answers[at]
      if (!answer?.known || joiners.test(name)) return []
      return [{ name, ours: enforceUsername(name) ?? null, go: answer.enforced }]
    })
    assert.deepEqual(
      compared.filter(({ ours, go }) => ours !== go),
      [],
    )
    assert.ok(compared.length > 300_000, `only ${compared.length} names were compared`)
  })
})

function buildOracle(t: TestContext): string | undefined {
  const folder = temporaryFolder(t, 'precis')
  const cwd = join(import.meta.dirname, 'precis')
  if (!installs(t, 'go', ['mod', 'download'], cwd)) return undefined
  const program = join(folder, 'precis')
  execFileSync('go', ['build', '-o', program, '.'], { cwd, stdio: 'inherit' })
  return program
}

function askOracle(program: string, names: readonly string[]): Answer[] {
  const input = names.map((name) => `${JSON.stringify(name)}\n`).join('')
  const printed = execFileSync(program, { input, maxBuffer: 2 ** 28, encoding: 'utf8' })
  return printed
    .trim()
    .split('\n')
    .map((line): Answer => JSON.parse(line))
}

/** Between two letters, the bidi rule changes nothing for a name from left to right. */
function framed(name: string): string {
  return rightToLeft.test(name) ? name : `a${name}a`
}

function everyCharacter(): string[] {
  const all = Array.from({ length: 0x10ffff }, (_, at) => String.fromCodePoint(at + 1))
  return all.filter((char) => !unpaired.test(char))
}

/** From characters that interact: directions, context rules, case, width and marks. */
function drawNames(count: number): string[] {
  const chars = [...'אבدذސߊ٠١۰۱12ab-._ְׁ𐨀𞤀𐴀𐴰·l׳״・アあ漢͵αβΣςİıßẞﬁＡ－ａéé']
  const pick = () => chars[Math.floor(Math.random() * chars.length)]
  const length = () => 1 + Math.floor(Math.random() * 5)
  return Array.from({ length: count }, () => Array.from({ length: length() }, pick).join(''))
}

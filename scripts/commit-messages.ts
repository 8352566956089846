/**
 * `node scripts/commit-messages.ts --check`: checks the messages of all commits after `base`; older ones are not
 * checked. `node scripts/commit-messages.ts FILE` checks one message, as the hook .githooks/commit-msg does.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The last commit before the rule. */
const base = '7f2e38a665ec2b70140416fb9765ec166bd44781'

const root = join(import.meta.dirname, '..')
const maxSubjectLength = 72
/** Verbs whose ending looks like another form. */
const imperatives = new Set(
  'alias,bring,embed,feed,focus,need,ping,seed,shed,string,bias,canvas'.split(','),
)

/** One sentence for each rule that the message breaks. */
export function messageErrors(message: string): string[] {
  const [subject = '', second = ''] = message.split('\n').filter((line) => !line.startsWith('#'))
  if (/^(Merge|Revert|fixup!|squash!) ?/.test(subject)) return []
  const [, verb] = /^[a-z0-9][a-z0-9 ,./-]*: ([A-Za-z][\w-]*)( .+)?$/i.exec(subject) ?? []
  return [
    verb === undefined ? 'the subject is not "scope: verb ..."' : verbError(verb),
    subject.length > maxSubjectLength
      ? `the subject has ${subject.length} characters, and at most ${maxSubjectLength} are allowed`
      : undefined,
    /[.;]$/.test(subject) ? 'the subject ends with a punctuation mark' : undefined,
    second.trim() === '' ? undefined : 'the second line is not empty',
  ].filter((error) => error !== undefined)
}

function verbError(verb: string): string | undefined {
  const isImperative =
    imperatives.has(verb) || (/^[a-z]/.test(verb) && !/([^s]s|[^e]ed|ing)$/.test(verb))
  return isImperative ? undefined : `"${verb}" is not a verb in the imperative, in lower case`
}

/**
 * The messages after `since`, by abbreviated hash. Undefined where the history cannot tell: in an exported tree, or in
 * a history that does not contain the commit. A shallow clone that ends after it contains later commits only.
 */
export function messagesSince(since: string, folder = root): Map<string, string> | undefined {
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const top = git('rev-parse', '--show-prefix')
  // An exported tree inside another repository has no history of its own.
  if (top.error || top.status !== 0 || top.stdout.trim() !== '') return undefined
  const isKnown = git('merge-base', '--is-ancestor', since, 'HEAD').status === 0
  const isShallow = git('rev-parse', '--is-shallow-repository').stdout.trim() === 'true'
  if (!isKnown && !isShallow) return undefined
  const range = isKnown ? [`${since}..HEAD`] : ['HEAD']
  const { stdout } = git('log', '--no-merges', '--format=%h%n%B%x00', ...range)
  const entries = stdout.split('\0').map((entry) => entry.trimStart().split('\n'))
  return new Map(
    entries.flatMap(([hash = '', ...lines]) => (hash === '' ? [] : [[hash, lines.join('\n')]])),
  )
}

function main(): void {
  const [argument = '--check'] = process.argv.slice(2)
  const messages =
    argument === '--check'
      ? messagesSince(base)
      : new Map([['this message', readFileSync(argument, 'utf8')]])
  for (const [name, message] of messages ?? []) {
    for (const error of messageErrors(message)) {
      console.error(`${name} "${message.split('\n')[0]}": ${error}. CONTRIBUTING.md has the rules.`)
      process.exitCode = 1
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()

/** Which files of the repository are pages of the guide, under which address and in which order. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface GuidePage {
  /** In the repository. */
  file: string
  url: string
  title: string
  text: string
}

export interface Chapter {
  title: string
  pages: GuidePage[]
}

const root = join(import.meta.dirname, '../../..')
const base = '/docs/guide'

/** Names of files without their ending; what no chapter names is in the last one. */
const chapters: Readonly<Record<string, readonly string[]>> = {
  Start: [
    'README',
    'docs/quick-start',
    'docs/first-hour',
    'docs/coming-from-supabase',
    'docs/errors',
  ],
  'By task': [
    ...['docs/tutorials', 'docs/tutorial-google', 'docs/tutorial-mail', 'docs/tutorial-webhooks'],
    ...['docs/tutorial-servers', 'docs/tutorial-testing'],
  ],
  Examples: [
    ...['examples/README', 'examples/web/README', 'examples/rls/README', 'examples/ssr/README'],
    ...['examples/mcp/README', 'examples/import/README'],
  ],
  'Signing in': [
    ...['docs/external-sign-in', 'docs/providers', 'docs/phones', 'docs/captcha', 'docs/passkeys'],
    ...['docs/mfa', 'docs/recovery-codes', 'docs/clients'],
  ],
  'Data and sessions': [
    ...['docs/row-level-security', 'docs/sessions', 'docs/hooks', 'docs/webhooks'],
    ...['docs/security-model', 'docs/security'],
  ],
  Mail: ['docs/email-flows', 'docs/email-templates', 'docs/mail', 'docs/languages'],
  Running: [
    ...['docs/configuration', 'docs/deploying', 'docs/sizing', 'docs/operations', 'docs/telemetry'],
    ...['docs/takeover', 'docs/import', 'docs/admin', 'docs/benchmarks', 'SECURITY'],
  ],
}

/** Every page; none where the documentation is not installed. */
export function readPages(): GuidePage[] {
  const files = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root })
  return files.map(normalised).toSorted().map(readPage)
}

function readPage(file: string): GuidePage {
  const text = readFileSync(join(root, file), 'utf8')
  const title = /^# (.+)$/m.exec(text)?.[1] ?? file
  return { file, url: urlOf(file), title, text }
}

/** README.md is the first page, docs/mfa.md is /docs/guide/mfa. */
function urlOf(file: string): string {
  if (file === 'README.md') return base
  const name = file
    .replace(/\.md$/, '')
    .replace(/^docs\//, '')
    .replace(/\/README$/, '')
  return `${base}/${name}`
}

export function inChapters(pages: readonly GuidePage[]): Chapter[] {
  const named = Object.entries(chapters).map(([title, names]) => ({
    title,
    pages: names.flatMap((name) => pages.find(({ file }) => file === `${name}.md`) ?? []),
  }))
  const known = new Set(named.flatMap((chapter) => chapter.pages))
  const rest = { title: 'Inside', pages: pages.filter((page) => !known.has(page)) }
  return [...named, rest].filter((chapter) => chapter.pages.length > 0)
}

function normalised(file: string): string {
  return file.replaceAll('\\', '/')
}

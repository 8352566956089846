/** Which files of the repository are pages of the guide, with their paths and order. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface GuidePage {
  /** Path in the repository. */
  file: string
  url: string
  title: string
  text: string
}

export interface Chapter {
  title: string
  pages: GuidePage[]
}

const root = join(import.meta.dirname, '../..')

/** The path of the first page; all others are below it. */
export const base = '/docs/guide'

/** File names without extension; pages that are not listed come last. */
const chapters: Readonly<Record<string, readonly string[]>> = {
  Start: [
    'README',
    'docs/index',
    'docs/getting-started',
    'docs/coming-from-supabase',
    'docs/faq',
    'docs/troubleshooting',
    'docs/errors',
  ],
  Tutorials: [
    'docs/tutorial-google',
    'docs/tutorial-mail',
    'docs/tutorial-webhooks',
    'docs/tutorial-servers',
    'docs/tutorial-testing',
  ],
  Frameworks: ['docs/guide-nextjs', 'docs/guide-sveltekit', 'docs/guide-nuxt', 'docs/guide-expo'],
  Examples: [
    'examples/README',
    'examples/web/README',
    'examples/rls/README',
    'examples/ssr/README',
    'examples/mcp/README',
    'examples/import/README',
  ],
  'Sign-in': [
    'docs/email-flows',
    'docs/phones',
    'docs/external-sign-in',
    'docs/providers',
    'docs/custom-providers',
    'docs/sso',
    'docs/passkeys',
    'docs/wallets',
    'docs/mfa',
    'docs/recovery-codes',
    'docs/captcha',
    'docs/oauth-server',
    'docs/clients',
  ],
  'Data and sessions': [
    'docs/row-level-security',
    'docs/sessions',
    'docs/hooks',
    'docs/webhooks',
    'docs/admin',
    'docs/import',
  ],
  Security: [
    'docs/security-model',
    'docs/security',
    'docs/security/threat-model',
    'docs/security/asvs',
    'docs/security/parser-budget',
    'docs/security/scorecard',
    'SECURITY',
  ],
  Email: ['docs/email-templates', 'docs/mail', 'docs/languages'],
  Operation: [
    'docs/configuration',
    'docs/deploying',
    'docs/platforms',
    'docs/managed-postgres',
    'docs/sizing',
    'docs/read-replicas',
    'docs/operations',
    'docs/upgrading',
    'docs/versioning',
    'CHANGELOG',
    'docs/telemetry',
    'docs/takeover',
    'docs/benchmarks',
  ],
  Project: [
    'CONTRIBUTING',
    'GOVERNANCE',
    'ROADMAP',
    'CODE_OF_CONDUCT',
    'docs/dependencies',
    'docs/releasing',
  ],
}

/** Every page. */
export function readPages(): GuidePage[] {
  const files = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root })
  return files.map(normalised).toSorted().map(readPage)
}

function readPage(file: string): GuidePage {
  const text = readFileSync(join(root, file), 'utf8')
  const title = /^# (.+)$/m.exec(text)?.[1] ?? file
  return { file, url: toUrl(file), title, text }
}

/** README.md is the first page, docs/mfa.md is /docs/guide/mfa. */
function toUrl(file: string): string {
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
  const rest = { title: 'Internals', pages: pages.filter((page) => !known.has(page)) }
  return [...named, rest].filter((chapter) => chapter.pages.length > 0)
}

function normalised(file: string): string {
  return file.replaceAll('\\', '/')
}

/** Checks custom subjects and templates: the built-in text is sent in place of one that cannot be used. */
import type { Config } from '../../config/groups/index.ts'
import { previewAll } from '../../mail/preview.ts'
import { type Rendering, withRenderer } from '../mail/renderer.ts'
import { type DoctorContext, type DoctorFinding, pass, warn } from './finding.ts'

export async function checkTemplates({
  config,
}: Pick<DoctorContext, 'config'>): Promise<DoctorFinding[]> {
  if (!hasCustomTexts(config)) return []
  const found = new Set<string>()
  await withRenderer(config, (rendering) => collectProblems(rendering, config, found), ignored)
  if (found.size === 0) return [pass('Every subject and template of yours can be used.')]
  return [...found].map((problem) => warn(`${problem}.`))
}

/** The findings contain every warning. */
const ignored = { warn: () => {} }

function hasCustomTexts({ given }: Config): boolean {
  return [...given].some((name) => /^AUTH_MAILER_(SUBJECTS|TEMPLATES)_/.test(name))
}

async function collectProblems(
  { languages, renderer }: Rendering,
  { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl }: Config,
  found: Set<string>,
): Promise<void> {
  for (const tag of languages.available) {
    for (const { kind, problems } of await previewAll(renderer, { siteUrl, externalUrl }, tag)) {
      for (const problem of problems) found.add(`${kind}: ${problem}`)
    }
  }
}

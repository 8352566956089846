/**
 * Settings for one language: `AUTH_MAILER_TEMPLATES_<KIND>_<LOCALE>` and `AUTH_MAILER_SUBJECTS_<KIND>_<LOCALE>`, where
 * `PT_BR` stands for the locale pt-BR.
 */
import { type EmailKind, emailKindDefinitions, mailKindNames } from './kinds/index.ts'
import { canonical } from './languages/tags.ts'

const bySuffix = new Map<string, EmailKind>(
  mailKindNames.map((kind) => [emailKindDefinitions[kind].envSuffix, kind]),
)
const locale = '[A-Z]{2,3}(?:_[A-Z]{4})?(?:_(?:[A-Z]{2}|\\d{3}))?'

export const localeSettingPattern = new RegExp(
  `^AUTH_MAILER_(TEMPLATES|SUBJECTS)_(${[...bySuffix.keys()].join('|')})_(${locale})$`,
)

interface LocaleSetting {
  what: 'TEMPLATES' | 'SUBJECTS'
  kind: EmailKind
  /** BCP 47 */
  tag: string
}

/** Parses the name of such a variable; undefined for any other variable. */
export function readLocaleSetting(variable: string): LocaleSetting | undefined {
  const match = localeSettingPattern.exec(variable)
  if (!match) return undefined
  const [, what, suffix = '', name = ''] = match
  const kind = bySuffix.get(suffix)
  const tag = canonical(name)
  if ((what !== 'TEMPLATES' && what !== 'SUBJECTS') || !kind || !tag) return undefined
  return { what, kind, tag }
}

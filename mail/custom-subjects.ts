/** Custom subjects: one per type of email, and one for each of its languages. */
import {
  type CustomTemplateSetting,
  settingName,
  templateKey,
  unknownVariablesMessage,
} from './custom-templates.ts'
import type { MailLog } from './custom-texts/log.ts'
import { compileTemplate, type Template } from './go-template/template.ts'
import { unknownVariables } from './unknown-variables.ts'

/** Compiles custom subjects. Returns the valid ones, and the errors of the others, by type and language. */
export function compileSubjects(configured: readonly CustomTemplateSetting[], log: MailLog) {
  const compiled = new Map<string, Template>()
  const errors = new Map<string, string>()
  for (const { kind, tag, value } of configured) {
    if (value.trim() === '') continue
    try {
      const template = compileTemplate(value, 'text')
      compiled.set(templateKey(kind, tag), template)
      const problems = unknownVariables(kind, template)
      const setting = settingName('SUBJECTS', kind, tag)
      if (problems.length > 0) log.warn({ kind, problems }, `${setting} ${unknownVariablesMessage}`)
    } catch (error) {
      const setting = settingName('SUBJECTS', kind, tag)
      const message = `${setting} has an error; the default is used`
      log.warn({ kind, reason: String(error) }, message)
      errors.set(templateKey(kind, tag), `${message}: ${String(error)}`)
    }
  }
  return { compiled, errors }
}

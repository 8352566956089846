import { useEffect, useRef, useState } from 'preact/hooks'

import { getBody, requestApi } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { AreaField, SelectField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Loaded } from '../../parts/states.tsx'
import type { ShownMailPreview } from '../mail/mail.ts'
import { MailFrame } from '../mail/mail-frame.tsx'
import type { ShownSetting } from './setting.ts'

/** The type of email of a template setting; undefined for other settings. */
export function getTemplateKind({ name }: ShownSetting): string | undefined {
  return /^AUTH_MAILER_TEMPLATES_([A-Z_]+)$/.exec(name)?.[1]?.toLowerCase()
}

interface TemplateEditorProps {
  setting: ShownSetting
  kind: string
  onSave: (value: string) => Promise<void>
  onClose: () => void
}

/** A template next to the resulting email with sample data, while it is edited. */
export function TemplateEditor({ setting, kind, onSave, onClose }: TemplateEditorProps) {
  const [template, setTemplate] = useState(setting.value ?? '')
  const save = async ({ value = '' }: FormFields) => {
    await onSave(value)
    onClose()
  }
  return (
    <>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <AreaField
          name="value"
          label={`Value of ${setting.name}`}
          value={template}
          hint="HTML with variables such as {{ .ConfirmationURL }}, or an address that starts with https://"
          rows={14}
          code
          onInput={setTemplate}
        />
      </Form>
      {isText(template) && <Draft kind={kind} template={template.trim()} />}
    </>
  )
}

/** And not an address. */
const isText = (template: string): boolean => /^\s*(<|\{\{)/.test(template)

const typingMs = 400

function Draft({ kind, template }: { kind: string; template: string }) {
  const written = useDelayed(template)
  const [locale, setLocale] = useState('')
  const list = useResource((signal) => getBody('/admin/mail/templates', signal), 'all')
  const of = useResource(
    (signal) => preview({ kind, template: written, ...(locale && { locale }) }, signal),
    `${locale} ${written}`,
  )
  const { languages = [], default_language = '' } = list.data ?? {}
  return (
    <>
      <SelectField
        name="locale"
        label="Preview in"
        value={locale || default_language}
        options={languages.map(({ tag, name }) => [tag, `${name} (${tag})`])}
        onInput={setLocale}
      />
      <Loaded of={of}>
        {({ subject, html, problems }) => (
          <>
            {problems.map((problem) => (
              <p key={problem} class="note bad" role="alert">
                {problem}
              </p>
            ))}
            <MailFrame html={html} title={`Preview of “${subject}”`} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface DraftMail extends ShownMailPreview {
  problems: string[]
}

async function preview(draft: object, signal: AbortSignal): Promise<DraftMail> {
  const path = '/admin/mail/preview'
  return (await requestApi(path, { method: 'POST', body: draft, signal })).body
}

/** The value once it has not changed for a moment. */
function useDelayed(value: string): string {
  const [delayed, setDelayed] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    timer.current = setTimeout(() => setDelayed(value), typingMs)
    return () => clearTimeout(timer.current)
  }, [value])
  return delayed
}

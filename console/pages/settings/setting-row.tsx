import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { AreaField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Badge, Description, Time, VariableName } from '../../parts/text.tsx'
import type { ShownSetting, ShownSettings } from './setting.ts'
import { getTemplateKind, TemplateEditor } from './template-editor.tsx'

interface SettingRowProps {
  setting: ShownSetting
  isNamed: boolean
  onChange: (settings: ShownSettings) => void
}

export function SettingRow({ setting, isNamed, onChange }: SettingRowProps) {
  const { name, description, locked, source } = setting
  const [isEditing, setEditing] = useState(isNamed && !locked)
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isNamed) row.current?.scrollIntoView({ block: 'center' })
  }, [isNamed])
  useFocusOfForm(row, isEditing)
  const mayChange = may('PUT /admin/settings') && !locked
  const reset = async () => {
    onChange(await changeByApi('DELETE', `/admin/settings/${name}`))
    const before = setting.value
    const restore =
      before === null || setting.secret ? undefined : () => store(name, before, onChange)
    showMessage(`${name} was reset to its default`, restore)
  }
  return (
    <li ref={row}>
      <div class="row spread">
        <VariableName name={name} />
        <span class="row">
          {locked && <Badge tone="link">Locked by the environment</Badge>}
          {source === 'settings' && <Badge tone="good">Changed here</Badge>}
        </span>
      </div>
      <p class="quiet small">
        <Description text={description} />
      </p>
      {isEditing ? (
        <SettingForm
          setting={setting}
          onSave={(value) => store(name, value, onChange, setting)}
          onClose={() => setEditing(false)}
        />
      ) : (
        <div class="row spread">
          <Value setting={setting} />
          <span class="row">
            {source === 'settings' && (
              <Button compact disabled={!mayChange} onClick={reset}>
                Reset to default
              </Button>
            )}
            <Button
              compact
              disabled={!mayChange}
              label={`Change ${name}`}
              onClick={() => setEditing(true)}
            >
              Change
            </Button>
          </span>
        </div>
      )}
    </li>
  )
}

/** The button that opens the form is gone while it is open. */
function useFocusOfForm(row: RefObject<HTMLElement | null>, isEditing: boolean): void {
  const before = useRef(isEditing)
  useEffect(() => {
    if (before.current === isEditing) return
    before.current = isEditing
    const target = isEditing ? 'input, select, textarea' : 'button[aria-label^=Change]'
    row.current?.querySelector<HTMLElement>(target)?.focus()
  }, [row, isEditing])
}

function Value({ setting: { value, secret, updated_at, updated_by } }: { setting: ShownSetting }) {
  return (
    <span class="value">
      <Shown value={value} secret={secret} />
      {updated_at && (
        <span class="quiet small">
          {' '}
          changed <Time at={updated_at} /> by {updated_by ?? 'a service key'}
        </span>
      )}
    </span>
  )
}

function Shown({ value, secret }: Pick<ShownSetting, 'value' | 'secret'>) {
  if (secret) return <span class="quiet">secret</span>
  return value ? <code>{shortened(value)}</code> : <span class="quiet">not set</span>
}

/** Templates are long. */
const shortened = (value: string): string =>
  value.length > 200 ? `${value.slice(0, 200)}…` : value

/** With the previous setting, the message can undo the change. */
async function store(
  name: string,
  value: string,
  onChange: (settings: ShownSettings) => void,
  before?: ShownSetting,
): Promise<void> {
  const put = async (text: string) =>
    onChange(await changeByApi('PUT', '/admin/settings', { values: { [name]: text } }))
  await put(value)
  const earlier = before?.secret ? null : (before?.value ?? null)
  showMessage(`${name} was changed`, earlier === null ? undefined : () => put(earlier))
}

interface SettingFormProps {
  setting: ShownSetting
  onSave: (value: string) => Promise<void>
  onClose: () => void
}

const truths = [
  ['true', 'true'],
  ['false', 'false'],
] as const

/** How a value of a type is written. */
const hints: Record<string, string> = {
  list: 'Values separated by commas',
  duration: 'A duration such as 90s, 15m or 7d',
  rate: 'A number per hour such as 30, or per duration such as 5/10m',
  whole: 'A whole number',
  number: 'A number',
  site: 'A URL such as https://app.example.com',
  url: 'A URL',
}

/** An input for the setting's type; the server validates the value. */
function SettingForm({ setting, onSave, onClose }: SettingFormProps) {
  const kind = getTemplateKind(setting)
  if (kind) return <TemplateEditor {...{ setting, kind, onSave, onClose }} />
  const save = async ({ value = '' }: FormFields) => {
    await onSave(value)
    onClose()
  }
  return (
    <Form submit="Save" onSubmit={save} onCancel={onClose}>
      <ValueField setting={setting} />
    </Form>
  )
}

function ValueField({ setting: { name, type, value, secret } }: { setting: ShownSetting }) {
  const field = { name: 'value', label: `Value of ${name}`, value: value ?? '' }
  if (secret) return <TextField {...field} type="password" hint="Stored encrypted" autoFocus />
  if (/bool|true, false/.test(type)) return <SelectField {...field} options={truths} />
  if (/list/.test(type) || (value?.length ?? 0) > 80) {
    return <AreaField {...field} code hint={hints[type]} rows={4} />
  }
  return <TextField {...field} hint={hints[type]} autoFocus />
}

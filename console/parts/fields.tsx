import { type ComponentChildren, h } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
}

interface TextFieldProps extends FieldProps {
  name: string
  type?: 'text' | 'email' | 'tel' | 'url' | 'password' | 'number' | 'search' | 'datetime-local'
  value?: string
  required?: boolean
  placeholder?: string
  autoFocus?: boolean
  pattern?: string
  /** `off` unless stated: the fields of the console describe other accounts. */
  autoComplete?: 'off' | 'current-password' | 'one-time-code'
  disabled?: boolean
  onInput?: (value: string) => void
}

export function TextField({
  label,
  hint,
  error,
  onInput,
  value,
  type = 'text',
  autoComplete = 'off',
  ...input
}: TextFieldProps) {
  const id = useId()
  return (
    <Labelled {...{ id, label, hint, error }}>
      {h('input', {
        ...input,
        ...described({ id, hint, error }),
        ...toInputValue(value, onInput),
        type,
        autoComplete,
        onInput: (event: InputEvent & { currentTarget: HTMLInputElement }) =>
          onInput?.(event.currentTarget.value),
      })}
    </Labelled>
  )
}

interface AreaFieldProps extends FieldProps {
  name: string
  value?: string
  rows?: number
  /** In a fixed-width font, without spell checking. */
  code?: boolean
  required?: boolean
  placeholder?: string
  disabled?: boolean
  onInput?: (value: string) => void
}

export function AreaField({ label, hint, error, code, value, onInput, ...area }: AreaFieldProps) {
  const id = useId()
  return (
    <Labelled {...{ id, label, hint, error }}>
      <textarea
        {...area}
        {...described({ id, hint, error })}
        {...toInputValue(value, onInput)}
        class={code ? 'code' : ''}
        spellcheck={!code}
        onInput={onInput && ((event) => onInput(event.currentTarget.value))}
      />
    </Labelled>
  )
}

interface SelectFieldProps extends FieldProps {
  name: string
  value?: string
  options: readonly (readonly [value: string, text: string])[]
  disabled?: boolean
  onInput?: (value: string) => void
}

export function SelectField(props: SelectFieldProps) {
  const { label, hint, error, options, value: chosen, onInput, ...select } = props
  const id = useId()
  return (
    <Labelled {...{ id, label, hint, error }}>
      <select
        {...select}
        {...described({ id, hint, error })}
        {...(onInput && { value: chosen })}
        onChange={onInput && ((event) => onInput(event.currentTarget.value))}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

interface CheckFieldProps extends Pick<FieldProps, 'label' | 'hint'> {
  name: string
  checked?: boolean
  disabled?: boolean
  onInput?: (checked: boolean) => void
}

export function CheckField({ label, hint, checked, onInput, ...input }: CheckFieldProps) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        {...input}
        {...(onInput ? { checked } : { defaultChecked: checked })}
        onChange={onInput && ((event) => onInput(event.currentTarget.checked))}
      />
      <span>
        {label}
        {hint && <span class="quiet small">{hint}</span>}
      </span>
    </label>
  )
}

/** Without a listener, what the user typed stays when the form is rendered again. */
function toInputValue(value: string | undefined, onInput: unknown) {
  return onInput ? { value } : { defaultValue: value }
}

function Labelled({
  id,
  label,
  hint,
  error,
  children,
}: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  )
}

function described({ id, hint, error }: Omit<FieldProps, 'label'> & { id: string }) {
  const by = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return { id, ...(by && { 'aria-describedby': by }), ...(error && { 'aria-invalid': true }) }
}

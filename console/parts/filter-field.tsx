import { h } from 'preact'
import { useId } from 'preact/hooks'

import { query, setQuery } from '../core/router.ts'

interface FilterFieldProps {
  /** The query parameter. */
  name: string
  label: string
  type?: 'search' | 'date'
  placeholder?: string
}

/** A list filter stored in the URL, applied when the input is complete. */
export function FilterField({ name, label, type = 'search', placeholder }: FilterFieldProps) {
  const id = useId()
  const value = query.value.get(name) ?? ''
  const field = {
    key: value,
    id,
    type,
    placeholder,
    defaultValue: value,
    onChange: (event: Event & { currentTarget: HTMLInputElement }) =>
      setQuery({ [name]: event.currentTarget.value.trim() }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', field)}
    </div>
  )
}

// The whole text of the weft::Error that `action` throws; "no error" if it throws none.
#pragma once
#include <string>

#include <weft/error.h>

template <class Action> std::string error_text(Action&& action) {
  try {
    action();
  } catch (const weft::Error& error) {
    return error.what();
  }
  return "no error";
}
